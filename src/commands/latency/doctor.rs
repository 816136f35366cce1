//! LATENCY DOCTOR: what the monitor has seen, in the server's words, and its advice for the events that an engine has.

use crate::command::config::Config;
use crate::util::latency::{Monitor, Summary};
use std::fmt::Write;

const DISABLED: &str = "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. You may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order to enable it. If we weren't in a deep space mission I'd suggest to take a look at https://redis.io/topics/latency-monitor.\n";
const NOTHING: &str = "Dave, no latency spike was observed during the lifetime of this Redis instance, not in the slightest bit. I honestly think you ought to sit down calmly, take a stress pill, and think things over.\n";
const SPIKES: &str = "Dave, I have observed latency spikes in this Redis instance. You don't mind talking about it, do you Dave?\n\n";
const NO_FIX: &str = "\nWhile there are latency events logged, I'm not able to suggest any easy fix. Please use the Redis community to get some help, providing this report in your help request.\n";
const ADVICE: &str = "\nI have a few advices for you:\n\n";
const INSPECT: &str = "- Check your Slow Log to understand what are the commands you are running which are too slow to execute. Please check https://redis.io/commands/slowlog for more information.\n";
const SCHEDULER: &str = "- The system is slow to execute Redis code paths not containing system calls. This usually means the system does not provide Redis CPU time to run for long periods. You should try to:\n  1) Lower the system load.\n  2) Use a computer / VM just for Redis if you are running other software in the same system.\n  3) Check if you have a \"noisy neighbour\" problem.\n  4) Check with 'redis-cli --intrinsic-latency 100' what is the intrinsic latency in your system.\n  5) Check if the problem is allocator-related by recompiling Redis with MALLOC=libc, if you are using Jemalloc. However this may create fragmentation problems.\n";
const HZ: &str = "- In order to make the Redis keys expiring process more incremental, try to set the 'hz' configuration parameter to 100 using 'CONFIG SET hz 100'.\n";
const LARGE_OBJECTS: &str = "- Deleting, expiring or evicting (because of maxmemory policy) large objects is a blocking operation. If you have very large objects that are often deleted, expired, or evicted, try to fragment those objects into multiple smaller objects.\n";
const EVICTION: &str = "- Sudden changes to the 'maxmemory' setting via 'CONFIG SET', or allocation of large objects via sets or sorted sets intersections, STORE option of SORT, Redis Cluster large keys migrations (RESTORE command), may create sudden memory pressure forcing the server to block trying to evict keys. \n";

/// Advice that an event calls for.
#[derive(Default)]
struct Advice {
    slow_log: bool,
    scheduler: bool,
    hz: bool,
    large_objects: bool,
    eviction: bool,
}

impl Advice {
    fn take(&mut self, event: &str) {
        match event {
            "command" => (self.slow_log, self.large_objects) = (true, true),
            "fast-command" => self.scheduler = true,
            "expire-cycle" => (self.hz, self.large_objects) = (true, true),
            "eviction-del" => self.large_objects = true,
            "eviction-cycle" => self.eviction = true,
            _ => {}
        }
    }
    fn is_none(&self) -> bool {
        !(self.slow_log || self.scheduler || self.hz || self.large_objects || self.eviction)
    }
    /// In the server's order.
    fn write(&self, config: &Config, out: &mut String) {
        let threshold_us = config.latency_monitor_threshold.saturating_mul(1000);
        let slower_than = config.slowlog_log_slower_than;
        out.push_str(ADVICE);
        if self.slow_log && slower_than < 0 {
            let _ = writeln!(
                out,
                "- There are latency issues with potentially slow commands you are using. Try to enable the Slow Log Redis feature using the command 'CONFIG SET slowlog-log-slower-than {threshold_us}'. If the Slow log is disabled Redis is not able to log slow commands execution for you."
            );
        } else if self.slow_log && slower_than.unsigned_abs() / 1000 > config.latency_monitor_threshold {
            let _ = writeln!(
                out,
                "- Your current Slow Log configuration only logs events that are slower than your configured latency monitor threshold. Please use 'CONFIG SET slowlog-log-slower-than {threshold_us}'."
            );
        }
        let hz: i64 = config.text("hz").parse().unwrap_or_default();
        for (given, text) in [
            (self.slow_log, INSPECT),
            (self.scheduler, SCHEDULER),
            (self.hz && hz < 100, HZ),
            (self.large_objects, LARGE_OBJECTS),
            (self.eviction, EVICTION),
        ] {
            out.push_str(if given { text } else { "" });
        }
    }
}

/// The report.
pub(super) fn report(monitor: &Monitor, config: &Config, now_s: i64) -> String {
    if monitor.series().len() == 0 {
        return if config.latency_monitor_threshold == 0 { DISABLED } else { NOTHING }.to_owned();
    }
    let mut report = SPIKES.to_owned();
    let mut advice = Advice::default();
    for (number, (event, series)) in (1..).zip(monitor.series()) {
        let Summary { samples, mean_ms, deviation_ms, period_s } = series.summary(now_s);
        let period = period_s as f64 / samples as f64;
        let _ = writeln!(
            report,
            "{number}. {event}: {samples} latency spikes (average {mean_ms}ms, mean deviation {deviation_ms}ms, period {period:.2} sec). Worst all time event {}ms.",
            series.max_ms
        );
        advice.take(event);
    }
    if advice.is_none() {
        report.push_str(NO_FIX);
    } else {
        advice.write(config, &mut report);
    }
    report
}
