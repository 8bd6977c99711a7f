//! URLs of PostgreSQL stores, in libpq's syntax, and their passwords, which are never displayed.

use crate::address::{decoded, parameters, parts, without_password};
use crate::error::StoreError;
use ::postgres::config::{Config, Host, SslMode};
use std::ffi::OsString;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

/// Connection timeout; connecting takes milliseconds.
const CONNECT: Duration = Duration::from_secs(5);
/// Timeout of unacknowledged network data.
const UNANSWERED: Duration = Duration::from_secs(10);
/// Certificate files of Linux distributions.
const TRUSTED: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

#[derive(Clone)]
pub(crate) struct Url {
    pub(crate) config: Config,
    /// The URL as given; the key of idle connections.
    pub(crate) whole: String,
    /// The URL without its password, for messages.
    pub(crate) shown: PathBuf,
    /// Trusted certificates; `None` without TLS.
    pub(crate) trusted: Option<PathBuf>,
}

impl Url {
    /// Parses a URL; `variable` reads the environment.
    pub(crate) fn parse(
        url: &str,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, StoreError> {
        let shown = PathBuf::from(without_password(url));
        let unusable = |why: &str| StoreError::Url(shown.clone(), why.to_owned());
        let [scheme, user, rest, query] = parts(url);
        let (mut mode, mut root, mut left) = (None, None, vec![]);
        for (name, value) in parameters(query) {
            match name {
                "sslmode" => mode = Some(decoded(value)),
                "sslrootcert" => root = Some(PathBuf::from(decoded(value))),
                _ => left.push(format!("{name}={value}")),
            }
        }
        let separator = if user.is_empty() { "" } else { "@" };
        let plain = format!("{scheme}{user}{separator}{rest}?{}", left.join("&"));
        // the parser's message may contain the password
        let mut config: Config = plain.parse().map_err(|_| {
            unusable("postgres://USER@HOST:PORT/DATABASE is expected; special characters in it are written as %XX")
        })?;
        let text = |name: &str| {
            let value = variable(name).and_then(|value| value.into_string().ok());
            value.filter(|value| !value.is_empty())
        };
        let user = config.get_user().map(str::to_owned).or_else(|| text("PGUSER"));
        let user = match user {
            Some(user) => user,
            None => own_name().ok_or_else(|| unusable("it names no user"))?,
        };
        config.user(&user);
        let database = config.get_dbname().map_or_else(|| user.clone(), str::to_owned);
        config.dbname(&database);
        if config.get_hosts().is_empty() {
            return Err(unusable("it names no host"));
        }
        let mode = ssl_mode(mode.as_deref(), is_local(&config)).ok_or_else(|| {
            unusable("its sslmode is none of disable, prefer, require and verify-full")
        })?;
        config.ssl_mode(mode);
        let trusted = match mode {
            SslMode::Disable => None,
            _ => Some(root.or_else(trusted).ok_or_else(|| {
                unusable("no certificates are trusted here: install ca-certificates, or name a file with sslrootcert=FILE")
            })?),
        };
        if config.get_password().is_none()
            && let Some(password) = password(&config, &user, &database, &text, &unusable)?
        {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(UNANSWERED);
        if config.get_application_name().is_none() {
            config.application_name("gritstone");
        }
        Ok(Self { config, whole: url.to_owned(), shown, trusted })
    }
}

/// Whether all hosts are this system.
fn is_local(config: &Config) -> bool {
    let named = config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
    });
    named && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

/// TLS mode; certificates are checked in every mode that has them.
fn ssl_mode(word: Option<&str>, local: bool) -> Option<SslMode> {
    Some(match word {
        None if local => SslMode::Disable,
        None | Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
        Some("prefer" | "allow") => SslMode::Prefer,
        Some("disable") => SslMode::Disable,
        Some(_) => return None,
    })
}

/// The certificate file of this system.
pub fn trusted() -> Option<PathBuf> {
    let files = TRUSTED.iter().map(PathBuf::from);
    files.into_iter().find(|path| path.exists())
}

/// The password: PGPASSWORD, else the first matching line of the password file.
fn password(
    config: &Config,
    user: &str,
    database: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    unusable: &dyn Fn(&str) -> StoreError,
) -> Result<Option<String>, StoreError> {
    if let Some(password) = variable("PGPASSWORD") {
        return Ok(Some(password));
    }
    let home = || variable("HOME").map(|home| format!("{home}/.pgpass"));
    let Some(path) = variable("PGPASSFILE").or_else(home) else {
        return Ok(None);
    };
    let Ok(file) = std::fs::metadata(&path) else {
        return Ok(None);
    };
    if file.mode() & 0o077 != 0 {
        return Err(unusable(&format!("{path} can be read by others: chmod 600 it")));
    }
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Ok(None);
    };
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().unwrap_or(&5432).to_string();
    Ok(match_line(&text, [&host, &port, database, user]))
}

/// The password of a matching line `host:port:database:user:password`; `*` matches everything, a backslash escapes a
/// colon.
fn match_line(text: &str, wanted: [&str; 4]) -> Option<String> {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = vec![String::new()];
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            let last = fields.len() - 1;
            match letter {
                '\\' => fields[last].extend(letters.next()),
                ':' if last < 4 => fields.push(String::new()),
                other => fields[last].push(other),
            }
        }
        let fits = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
        if fields.len() == 5 && fields.iter().zip(wanted).all(fits) {
            return fields.pop();
        }
    }
    None
}

fn own_name() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid());
    user.ok().flatten().map(|user| user.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{self, has_password};
    use std::path::Path;

    fn nothing(_: &str) -> Option<OsString> {
        None
    }

    #[test]
    fn shown_urls_lack_passwords() {
        for (url, shown) in [
            ("postgres://ann@h/db", "postgres://ann@h/db"),
            ("postgres://ann:secret@h:5/db", "postgres://ann@h:5/db"),
            (
                "postgresql://ann:se%2Fcret@h/db?sslmode=require",
                "postgresql://ann@h/db?sslmode=require",
            ),
            ("postgres://h/db?user=ann&password=secret", "postgres://h/db?user=ann"),
            ("postgres://h/db?PassWord=secret", "postgres://h/db"),
            ("postgres://h/db?pass%77ord=secret&x=1", "postgres://h/db?x=1"),
            ("postgres://ann:sec@ret@h/db", "postgres://ann@h/db"),
            ("postgres://ann:sec/ret@h/db", "postgres://ann@h/db"),
            ("postgres://:secret@h", "postgres://h"),
            ("postgres://ann:sec?ret@h/db", "postgres://h/db"),
        ] {
            assert_eq!(address::shown(Path::new(url)), Path::new(shown));
            assert_eq!(has_password(Path::new(url)), url.contains("ret"), "{url}");
            let message = match Url::parse(url, nothing) {
                Ok(url) => url.shown.display().to_string(),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!message.contains("ret@") && !message.contains("secret"), "{message}");
        }
        assert_eq!(address::shown(Path::new("a:b@c/d")), Path::new("a:b@c/d"));
    }

    #[test]
    fn password_sources_have_an_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        let lines =
            "# h:*:*:*:comment\nh:1:*:*:other port\nh:*:d\\:b:*:a:b\\\\c\n*:*:*:eve:eve's\n";
        std::fs::write(&file, lines).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let found = |url: &str, of_environment: Option<&str>| {
            let variable = |name: &str| match name {
                "PGPASSFILE" => Some(file.clone().into_os_string()),
                "PGPASSWORD" => of_environment.map(OsString::from),
                _ => None,
            };
            let url = Url::parse(url, variable).unwrap();
            let password = url.config.get_password().map(<[u8]>::to_vec);
            password.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found("postgres://ann:x@h/db", Some("y")), some("x"));
        assert_eq!(found("postgres://ann@h/db", Some("y")), some("y"));
        assert_eq!(found("postgres://ann@h/d%3Ab", None), some("a:b\\c"));
        for unset in [None, Some("")] {
            assert_eq!(found("postgres://eve@elsewhere/x", unset), some("eve's"));
        }
        assert_eq!(found("postgres://ann@elsewhere/x", None), None);
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o640))
            .unwrap();
        let variable = |name: &str| (name == "PGPASSFILE").then(|| file.clone().into());
        let refused = Url::parse("postgres://ann@h/db", variable).err().unwrap();
        assert!(refused.to_string().contains("chmod 600"), "{refused}");
    }

    /// Plain text crosses a network only if the URL says so.
    #[test]
    fn remote_servers_need_tls() {
        for (url, mode) in [
            ("postgres://a@h/db", SslMode::Require),
            ("postgres://a@h/db?sslmode=verify-full", SslMode::Require),
            ("postgres://a@h/db?sslmode=prefer", SslMode::Prefer),
            ("postgres://a@h/db?sslmode=disable", SslMode::Disable),
            ("postgres://a@localhost/db", SslMode::Disable),
            ("postgres://a@localhost,h/db", SslMode::Require),
            ("postgres://a@localhost/db?hostaddr=10.0.0.1", SslMode::Require),
            ("postgres:///db?host=/run/postgresql&user=a", SslMode::Disable),
            ("postgres://localhost/db?sslmode=require&sslrootcert=/x.pem", SslMode::Require),
        ] {
            let url = Url::parse(url, nothing).unwrap();
            assert_eq!(url.config.get_ssl_mode(), mode);
            assert_eq!(url.trusted.is_some(), mode != SslMode::Disable);
        }
        for url in [
            "postgres://a@h/db?sslmode=no",
            "postgres://",
            "postgres://a@h:x/db",
            "postgres://a@h/db?what=1",
        ] {
            assert!(matches!(Url::parse(url, nothing), Err(StoreError::Url(..))), "{url}");
        }
    }
}
