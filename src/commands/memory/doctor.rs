//! MEMORY DOCTOR: what may be wrong with how memory is used, in the server's words.

use crate::command::memory_use::MemoryUse;

const SMALL: &str = "Hi Sam, this instance is empty or is using very little memory, my issues detector can't be used in these conditions. Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be back to our programming as soon as I finished rebooting.\n";
const NOTHING: &str = "Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs on this base.\n";
const ISSUES: &str = "Sam, I detected a few issues in this Redis instance memory implants:\n\n";
const PEAK: &str = " * Peak memory: In the past this instance used more than 150% the memory that is currently using. The allocator is normally not able to release memory after a peak, so you can expect to see a big fragmentation ratio, however this is actually harmless and is only due to the memory peak, and if the Redis instance Resident Set Size (RSS) is currently bigger than expected, the memory will be used as soon as you fill the Redis instance with more data. If the memory peak was only occasional and you want to try to reclaim memory, please try the MEMORY PURGE command, otherwise the only other option is to shutdown and restart the instance.\n\n";
const RESIDENT: &str = " * High total RSS: This instance has a memory fragmentation and RSS overhead greater than 1.4 (this means that the Resident Set Size of the Redis process is much larger than the sum of the logical allocations Redis performed). This problem is usually due either to a large peak memory (check if there is a peak memory entry above in the report) or may result from a workload that causes the allocator to fragment memory a lot. If the problem is a large peak memory, then there is no issue. Otherwise, make sure you are using the Jemalloc allocator and not the default libc malloc. Note: The currently used allocator is \"rust\".\n\n";
const REPLICAS: &str = " * Big replica buffers: The replica output buffers in this instance are greater than 10MB for each replica (on average). This likely means that there is some replica instance that is struggling receiving data, either because it is too slow or because of networking issues. As a result, data piles on the master output buffers. Please try to identify what replica is not receiving data correctly and why. You can use the INFO output in order to check the replicas delays and the CLIENT LIST command to check the output buffers of each replica.\n\n";
const CLIENTS: &str = " * Big client buffers: The clients output buffers in this instance are greater than 200K per client (on average). This may result from different causes, like Pub/Sub clients subscribed to channels bot not receiving data fast enough, so that data piles on the Redis instance output buffer, or clients sending commands with large replies or very large sequences of commands in the same pipeline. Please use the CLIENT LIST command in order to investigate the issue if it causes problems in your instance, or to understand better why certain clients are using a big amount of memory.\n\n";
const SCRIPTS: &str = " * Many scripts: There seem to be many cached scripts in this instance (more than 1000). This may be because scripts are generated and `EVAL`ed, instead of being parameterized (with KEYS and ARGV), `SCRIPT LOAD`ed and `EVALSHA`ed. Unless `SCRIPT FLUSH` is called periodically, the scripts' caches may end up consuming most of your memory.\n\n";
const END: &str = "I'm here to keep you safe, Sam. I want to help you.\n";

/// Below this it does not look for trouble.
const SMALL_BYTES: usize = 5 << 20;

/// What is looked at.
pub(super) struct Found {
    pub(super) memory: MemoryUse,
    pub(super) clients: usize,
    pub(super) client_bytes: usize,
    pub(super) replicas: usize,
    pub(super) replica_bytes: usize,
    pub(super) scripts: usize,
}

/// The report.
pub(super) fn report(found: &Found) -> String {
    let MemoryUse { used, peak, resident, .. } = found.memory;
    if used < SMALL_BYTES {
        return SMALL.to_owned();
    }
    let issues = [
        (peak as f64 / used as f64 > 1.5, PEAK),
        (resident as f64 / used as f64 > 1.4 && resident - used > 10 << 20, RESIDENT),
        (found.replicas > 0 && found.replica_bytes > 10 << 20, REPLICAS),
        (found.client_bytes.checked_div(found.clients).is_some_and(|mean| mean > 200 << 10), CLIENTS),
        (found.scripts > 1000, SCRIPTS),
    ];
    let told: String = issues.iter().filter(|(there, _)| *there).map(|(_, text)| *text).collect();
    if told.is_empty() { NOTHING.to_owned() } else { format!("{ISSUES}{told}{END}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_issue_is_told() {
        let memory =
            |used, peak, resident| MemoryUse { used, peak, startup: 0, overhead: 0, resident, keys: 0 };
        let calm = || Found {
            memory: memory(6 << 20, 6 << 20, 7 << 20),
            clients: 1,
            client_bytes: 100,
            replicas: 0,
            replica_bytes: 0,
            scripts: 1000,
        };
        assert_eq!(report(&Found { memory: memory(5 << 19, 1 << 30, 1 << 30), ..calm() }), SMALL);
        assert_eq!(report(&calm()), NOTHING);
        assert_eq!(report(&Found { scripts: 1001, ..calm() }), format!("{ISSUES}{SCRIPTS}{END}"));
        assert_eq!(
            report(&Found { memory: memory(6 << 20, 10 << 20, 20 << 20), ..calm() }),
            format!("{ISSUES}{PEAK}{RESIDENT}{END}")
        );
        assert_eq!(
            report(&Found { client_bytes: 201 << 10, replicas: 1, replica_bytes: 11 << 20, ..calm() }),
            format!("{ISSUES}{REPLICAS}{CLIENTS}{END}")
        );
    }
}
