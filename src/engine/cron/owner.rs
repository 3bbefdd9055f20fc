//! Who runs an execution: this engine's own identity, and whether another's is known to be dead.

use std::collections::BTreeSet;

use crate::agent::{Life, host_name, life, this_process};
use crate::domain::cron::{Claim, ClaimKey, Owner};
use crate::domain::id::RunId;

/// This engine, as others may have to look for it.
pub(super) fn this_engine(run: RunId) -> Owner {
    Owner { run, host: host_name(), process: this_process() }
}

/// The claims whose owner is known to be dead. One that nobody can tell of is not among them.
pub(super) fn dead(claims: &[(ClaimKey, Claim)], us: &Owner) -> BTreeSet<ClaimKey> {
    claims.iter().filter(|(_, claim)| is_dead(&claim.owner, us)).map(|(key, _)| key.clone()).collect()
}

/// An earlier run in this very process is dead too: a restart keeps the process.
fn is_dead(owner: &Owner, us: &Owner) -> bool {
    if owner.run == us.run || owner.host != us.host || us.host.is_empty() {
        return false;
    }
    owner.process == us.process || life(&owner.process) == Life::Gone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::process::ProcessIdentity;

    fn us() -> Owner {
        this_engine(RunId("now".to_owned()))
    }

    fn earlier(host: &str, process: ProcessIdentity) -> Owner {
        Owner { run: RunId("earlier".to_owned()), host: host.to_owned(), process }
    }

    #[test]
    fn an_owner_is_dead_only_where_that_can_be_known() {
        let us = us();
        let gone = ProcessIdentity { started: us.process.started + 1, ..us.process.clone() };
        let lives = crate::agent::life(&us.process);
        assert_eq!(lives, Life::Lives);
        assert!(is_dead(&earlier(&us.host, gone.clone()), &us), "its process is gone");
        assert!(is_dead(&earlier(&us.host, us.process.clone()), &us), "this process began anew");
        assert!(!is_dead(&earlier("elsewhere", gone), &us), "another host's process can't be seen");
        assert!(!is_dead(&us, &us), "we live");
        let untold = ProcessIdentity { pid: 1, boot: String::new(), started: 0 };
        assert!(!is_dead(&earlier(&us.host, untold), &us), "nobody can tell");
    }
}
