//! What happens: the one owner of all running things.
