//! Reads the memory limit of the cgroup of this process.

use std::path::Path;

/// The least value that means "no limit" in version 1: the kernel writes the largest multiple of a
/// page.
const UNLIMITED: u64 = 1 << 62;

/// The default memory limit, in percent of the cgroup's limit: the kernel also counts pages of
/// files and sockets, and kills at the limit.
const PERCENT: u64 = 75;

/// Returns the default memory limit of the recorder: a part of the lowest limit of its cgroups, or
/// `None` if no cgroup has a limit.
pub fn default_max_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let limit = limit(Path::new("/sys/fs/cgroup"), &groups)?;
    Some(limit / 100 * PERCENT)
}

/// Returns the lowest limit between the cgroups of `/proc/self/cgroup` and the root.
fn limit(root: &Path, groups: &str) -> Option<u64> {
    groups
        .lines()
        .filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            match controllers {
                "" => least(root, path, "memory.max"),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    least(&root.join("memory"), path, "memory.limit_in_bytes")
                }
                _ => None,
            }
        })
        .min()
}

/// A parent's limit applies to its children. In a container the path can name cgroups outside of
/// the mount: absent ones are skipped.
fn least(root: &Path, path: &str, file: &str) -> Option<u64> {
    let relative = Path::new(path.trim_start_matches('/'));
    let is_inside = relative
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    let start = if is_inside { relative } else { Path::new("") };
    start
        .ancestors()
        .filter_map(|group| std::fs::read_to_string(root.join(group).join(file)).ok())
        .filter_map(|text| text.trim().parse::<u64>().ok())
        .filter(|bytes| *bytes < UNLIMITED)
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("writable");
        std::fs::write(path, text).expect("writable");
    }

    #[test]
    fn the_least_limit_on_the_way_to_the_root_holds() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        assert_eq!(limit(root, "0::/pod/container\n"), None);
        write(root, "pod/container/memory.max", "max\n");
        assert_eq!(limit(root, "0::/pod/container\n"), None);
        write(root, "pod/memory.max", "300000000\n");
        assert_eq!(limit(root, "0::/pod/container\n"), Some(300_000_000));
        write(root, "pod/container/memory.max", "200000000\n");
        assert_eq!(limit(root, "0::/pod/container\n"), Some(200_000_000));
        assert_eq!(limit(root, "0::/elsewhere\n"), None);
    }

    #[test]
    fn a_container_finds_its_limit_at_the_root_of_what_is_mounted() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        write(root, "memory.max", "500000000\n");
        for groups in ["0::/\n", "0::/kubepods/pod1/abc\n", "0::/../../x\n"] {
            assert_eq!(limit(root, groups), Some(500_000_000), "{groups}");
        }
    }

    #[test]
    fn version_1_has_a_folder_for_the_controller_and_a_number_for_no_limit() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let groups = "5:cpu,cpuacct:/a\n4:memory:/a\n1:name=systemd:/a\n";
        write(
            root,
            "memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        );
        assert_eq!(limit(root, groups), None);
        write(root, "memory/a/memory.limit_in_bytes", "400000000\n");
        assert_eq!(limit(root, groups), Some(400_000_000));
        assert_eq!(limit(root, "4:cpu:/a\n"), None);
    }

    #[test]
    fn what_cannot_be_read_is_no_limit() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), "a/memory.max", "lots\n");
        for groups in ["", "0", "0:", "0::", "0::/a", "x:memory:/a"] {
            assert_eq!(limit(root.path(), groups), None, "{groups}");
        }
    }
}
