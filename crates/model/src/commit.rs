//! The commit of the measured program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest name of a branch and address of a repository.
const MAX_LENGTH: usize = 300;

/// The measured commit in version control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its hash, 7 to 64 hexadecimal digits.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Web address of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
}

impl Commit {
    /// # Errors
    /// When the hash is invalid, or a name is empty, long or has control characters.
    pub fn new(id: &str, branch: Option<&str>, repository: Option<&str>) -> Result<Self, String> {
        let digits = (7..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_hexdigit());
        if !digits {
            return Err(format!(
                "'{}' is not a commit hash: 7 to 64 hexadecimal digits",
                id.escape_default()
            ));
        }
        let named = |name: Option<&str>| match name {
            Some(name)
                if name.is_empty()
                    || name.len() > MAX_LENGTH
                    || name.chars().any(char::is_control) =>
            {
                Err(format!(
                    "'{}' is empty, longer than {MAX_LENGTH} bytes, or has control characters",
                    name.escape_default()
                ))
            }
            name => Ok(name.map(str::to_owned)),
        };
        Ok(Self {
            id: id.to_ascii_lowercase(),
            branch: named(branch)?,
            repository: named(repository)?,
        })
    }

    /// A page with the commits after `good` up to `bad`, in the syntax of GitHub and GitLab; `None` unless both have the same web address.
    pub fn link_between(good: &Self, bad: &Self) -> Option<String> {
        let repository = good
            .repository
            .as_ref()
            .filter(|repository| Some(*repository) == bad.repository.as_ref())?;
        let plain = repository.strip_suffix(".git").unwrap_or(repository);
        let plain = plain.trim_end_matches('/');
        let web = plain.starts_with("https://")
            && plain.chars().all(|c| c.is_ascii_graphic() && !"<>\"'`?#".contains(c));
        web.then(|| format!("{plain}/compare/{}...{}", good.id, bad.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_names_are_checked() {
        assert_eq!(Commit::new("ABCDEF1", Some("main"), None).unwrap().id, "abcdef1");
        for id in ["", "abcdef", "main", "-abcdef1", "abcdef1\n", &"a".repeat(65)] {
            assert!(Commit::new(id, None, None).is_err(), "{id:?}");
        }
        for name in ["", "a\nb", "\u{1b}[31m", &"x".repeat(301)] {
            assert!(Commit::new("abcdef1", Some(name), None).is_err(), "{name:?}");
            assert!(Commit::new("abcdef1", None, Some(name)).is_err(), "{name:?}");
        }
    }

    #[test]
    fn links_need_a_web_repository() {
        let commit = |id: &str, repository: &str| Commit::new(id, None, Some(repository)).unwrap();
        let link =
            |a: &str, b: &str| Commit::link_between(&commit("aaaaaaa", a), &commit("bbbbbbb", b));
        let url = "https://example.org/a/b";
        let found = Some("https://example.org/a/b/compare/aaaaaaa...bbbbbbb".to_owned());
        assert_eq!(link(url, url), found);
        assert_eq!(link("https://example.org/a/b.git", "https://example.org/a/b.git"), found);
        assert_eq!(link(url, "https://example.org/a/c"), None);
        for hostile in ["javascript:alert(1)", "https://a/\"onload=1", "git@example.org:a/b"] {
            assert_eq!(link(hostile, hostile), None);
        }
    }
}
