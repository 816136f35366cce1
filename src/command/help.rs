//! The reply of HELP, which every command with subcommands has in the same form.

use crate::reply::Reply;

/// Answers with the lines between the heading and the last two, which are the same for all containers.
pub fn reply(out: &mut Reply, container: &str, lines: &[&str]) {
    out.array(lines.len() + 3);
    out.status(&format!("{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    for line in lines {
        out.status(line);
    }
    out.status("HELP");
    out.status("    Prints this help.");
}
