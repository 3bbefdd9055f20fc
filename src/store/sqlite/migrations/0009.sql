-- The next start lets go what the boot guard holds.
CREATE INDEX guarded ON sessions (id) WHERE hold_reason = 'boot_guard';
