//! Who may do what: owner, mode and sticky bit, checked as the NameNode's `FSPermissionChecker` does.

use super::remote::Remote;
use crate::demo::servers::file_system::{FileSystem, Inode, components, join, split};

/// Somebody who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Name.
    pub name: String,
    /// Groups.
    pub groups: Vec<String>,
    /// May do everything.
    pub superuser: bool,
}

/// Permission bits of one class of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Go through a directory.
    Execute,
    /// Change a directory or a file.
    Write,
    /// Read a file.
    Read,
    /// List a directory.
    ReadExecute,
    /// Everything; wanted of every non-empty directory that is removed.
    All,
}

impl Access {
    const fn bits(self) -> u16 {
        match self {
            Self::Execute => 1,
            Self::Write => 2,
            Self::Read => 4,
            Self::ReadExecute => 5,
            Self::All => 7,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Execute => "EXECUTE",
            Self::Write => "WRITE",
            Self::Read => "READ",
            Self::ReadExecute => "READ_EXECUTE",
            Self::All => "ALL",
        }
    }
}

impl User {
    fn may(&self, inode: &Inode, access: Access) -> bool {
        let shift = if self.name == inode.owner {
            6
        } else if self.groups.contains(&inode.group) {
            3
        } else {
            0
        };
        self.superuser || (inode.mode >> shift) & access.bits() == access.bits()
    }

    /// Refuses unless the user has `access` to what sits at `path`.
    pub fn check(&self, path: &str, inode: &Inode, access: Access) -> Result<(), Remote> {
        if self.may(inode, access) {
            return Ok(());
        }
        let text = format!(
            "Permission denied: user={}, access={}, inode=\"{path}\":{}",
            self.name,
            access.word(),
            described(inode)
        );
        Err(Remote::new("AccessControlException", text))
    }

    /// Refuses unless every directory above `path` lets the user through. A file on the way ends the walk for a superuser.
    pub fn traverse(&self, fs: &FileSystem, path: &str) -> Result<(), Remote> {
        let mut here = "/".to_owned();
        for name in components(split(path).0).chain([""]) {
            let Some(inode) = fs.stat(&here) else { return Ok(()) };
            if !inode.is_dir() {
                if self.superuser {
                    return Ok(());
                }
                return Err(Remote::new("AccessControlException", format!("{here} (is not a directory)")));
            }
            self.check(&here, inode, Access::Execute)?;
            if !name.is_empty() {
                here = join(&here, name);
            }
        }
        Ok(())
    }

    /// Refuses unless the user may add entries to the nearest directory above `path` that exists.
    pub fn may_add(&self, fs: &FileSystem, path: &str) -> Result<(), Remote> {
        self.traverse(fs, path)?;
        let mut parent = split(path).0;
        while fs.stat(parent).is_none() && parent != "/" {
            parent = split(parent).0;
        }
        fs.stat(parent).map_or(Ok(()), |inode| self.check(parent, inode, Access::Write))
    }

    /// Refuses unless the user may take the entry at `path` out of its directory.
    pub fn may_remove(&self, fs: &FileSystem, path: &str) -> Result<(), Remote> {
        self.traverse(fs, path)?;
        let parent_path = split(path).0;
        let Some(parent) = fs.stat(parent_path) else { return Ok(()) };
        self.check(parent_path, parent, Access::Write)?;
        let Some(inode) = fs.stat(path) else { return Ok(()) };
        let sticky = parent.mode & 0o1000 != 0;
        if !sticky || self.superuser || self.name == parent.owner || self.name == inode.owner {
            return Ok(());
        }
        let text = format!(
            "Permission denied by sticky bit: user={}, path=\"{path}\":{}, parent=\"{parent_path}\":{}",
            self.name,
            described(inode),
            described(parent)
        );
        Err(Remote::new("AccessControlException", text))
    }

    /// Refuses unless every non-empty directory at or below `path` is open to the user: the rule of a recursive delete.
    pub fn may_remove_below(&self, fs: &FileSystem, path: &str) -> Result<(), Remote> {
        let directories = fs.walk(path).into_iter().filter(|(_, inode)| inode.child_count() > 0);
        for (path, inode) in directories {
            self.check(&path, inode, Access::All)?;
        }
        Ok(())
    }

    /// Refuses unless every directory at or below `path` may be listed: the rule of a content summary.
    pub fn may_read_below(&self, fs: &FileSystem, path: &str) -> Result<(), Remote> {
        for (path, inode) in fs.walk(path).into_iter().filter(|(_, inode)| inode.is_dir()) {
            self.check(&path, inode, Access::ReadExecute)?;
        }
        Ok(())
    }
}

/// `owner:group:drwxr-xr-x`.
fn described(inode: &Inode) -> String {
    let kind = if inode.is_dir() { 'd' } else { '-' };
    format!("{}:{}:{kind}{}", inode.owner, inode.group, symbols(inode.mode))
}

fn symbols(mode: u16) -> String {
    let mut text: String =
        (0..9).map(|at| if mode & (0o400 >> at) == 0 { '-' } else { ['r', 'w', 'x'][at % 3] }).collect();
    if mode & 0o1000 != 0 {
        let last = if text.pop() == Some('x') { 't' } else { 'T' };
        text.push(last);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_read_as_ls_shows_them() {
        assert_eq!(symbols(0o1777), "rwxrwxrwt");
        assert_eq!(symbols(0o1640), "rw-r----T");
        assert_eq!(symbols(0o755), "rwxr-xr-x");
    }
}
