//! The commit of the measured program.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Longest name of a branch and address of a repository.
const MAX_LENGTH: usize = 300;

/// The measured commit in version control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its hash, 7 to 64 hexadecimal digits.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Web address of the repository, without user, password and parameters.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "plain_repository"
    )]
    pub repository: Option<String>,
}

impl Commit {
    /// # Errors
    /// When the hash is invalid, or a name is empty, long or has control characters.
    pub fn new(id: &str, branch: Option<&str>, repository: Option<&str>) -> Result<Self, String> {
        if !is_hash(id) {
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
            repository: named(repository.map(plain_address).as_deref())?,
        })
    }

    /// A page with the commits after `good` up to `bad`, in the syntax of GitHub and GitLab, or of Bitbucket; `None` unless both have the same
    /// web address.
    pub fn link_between(good: &Self, bad: &Self) -> Option<String> {
        let repository = good
            .repository
            .as_ref()
            .filter(|repository| Some(*repository) == bad.repository.as_ref())?;
        let plain = repository.strip_suffix(".git").unwrap_or(repository);
        let plain = plain.trim_end_matches('/');
        let is_web = plain.starts_with("https://")
            && plain.chars().all(|c| c.is_ascii_graphic() && !"<>\"'`?#".contains(c));
        let (good, bad) = (&good.id, &bad.id);
        let page = match plain.starts_with("https://bitbucket.org/") {
            true => format!("branches/compare/{bad}..{good}"),
            false => format!("compare/{good}...{bad}"),
        };
        (is_web && is_hash(good) && is_hash(bad)).then(|| format!("{plain}/{page}"))
    }

    /// Whether it is of this branch, which CI servers check out as `origin/NAME`.
    pub fn is_on(&self, branch: &str) -> bool {
        let local = |name: &str| name.strip_prefix("origin/").unwrap_or(name).to_owned();
        self.branch.as_deref().map(local) == Some(local(branch))
    }

    /// Whether both hashes are of one commit, of which one may be shortened.
    pub fn is_same(&self, other: &Self) -> bool {
        let [a, b] = [&self.id, &other.id].map(|id| id.to_ascii_lowercase());
        a.starts_with(&b) || b.starts_with(&a)
    }
}

fn is_hash(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// An address without user, password, parameters and fragment, which may be secrets.
pub fn plain_address(address: &str) -> String {
    let start = address.find("://").map_or(0, |position| position + 3);
    let (scheme, rest) = address.split_at(start);
    let end = rest.find('/').unwrap_or(rest.len());
    // the end of a user name; passwords may have an unencoded at sign, slash or question mark
    let position = rest[..end].rfind('@').or_else(|| {
        let position = rest.rfind('@')?;
        let (_, port) = rest[..end].split_once(':')?;
        let is_number = port.chars().all(|c| c.is_ascii_digit());
        (!is_number && !scheme.is_empty()).then_some(position)
    });
    let rest = position.map_or(rest, |position| &rest[position + 1..]);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    format!("{scheme}{}", &rest[..end])
}

fn plain_repository<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let address: Option<String> = Option::deserialize(from)?;
    Ok(address.as_deref().map(plain_address))
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
    fn hashes_may_be_short() {
        let commit = |id: &str| Commit::new(id, None, None).unwrap();
        assert!(commit("aaaaaaab").is_same(&commit("AAAAAAA")));
        assert!(!commit("aaaaaaab").is_same(&commit("aaaaaaac")));
    }

    #[test]
    fn repositories_have_no_credentials() {
        for (address, plain) in [
            ("https://u:s3cret@example.org/a/b.git", "https://example.org/a/b.git"),
            ("https://token@example.org/a", "https://example.org/a"),
            ("https://u:p@ss@example.org:8443/a", "https://example.org:8443/a"),
            ("https://u:p/s?s@example.org/a", "https://example.org/a"),
            ("https://example.org/a?private_token=s3cret#x", "https://example.org/a"),
            ("https://example.org:8443/@scope/a", "https://example.org:8443/@scope/a"),
            ("u:s3cret@example.org/a", "example.org/a"),
            ("git@example.org:a/b", "example.org:a/b"),
            ("/srv/a@b/c", "/srv/a@b/c"),
        ] {
            let commit = Commit::new("aaaaaaa", None, Some(address)).unwrap();
            assert_eq!(commit.repository.as_deref(), Some(plain));
            let stored = serde_json::json!({ "id": "aaaaaaa", "repository": address });
            assert_eq!(serde_json::from_value::<Commit>(stored).unwrap(), commit);
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
        let bitbucket = "https://bitbucket.org/a/b";
        let page = format!("{bitbucket}/branches/compare/bbbbbbb..aaaaaaa");
        assert_eq!(link(bitbucket, bitbucket), Some(page));
        let stored = serde_json::json!({ "id": "../../../c", "repository": url });
        let invalid: Commit = serde_json::from_value(stored).unwrap();
        assert_eq!(Commit::link_between(&commit("aaaaaaa", url), &invalid), None);
        for hostile in ["javascript:alert(1)", "https://a/\"onload=1", "git@example.org:a/b"] {
            assert_eq!(link(hostile, hostile), None);
        }
    }
}
