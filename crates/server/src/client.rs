//! The HTTP client of `push`, `pull`, `sync` and of webhooks.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Time for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// An HTTP agent with a timeout for a whole request.
///
/// # Errors
/// When the certificates cannot be read.
pub fn agent(certificates: Option<&Path>, timeout: Duration) -> Result<Agent> {
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(trusted(certificates)?);
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(timeout))
        .tls_config(tls.build());
    Ok(config.build().into())
}

/// Trusted certificates: those of a file, or of the system.
fn trusted(file: Option<&Path>) -> Result<RootCerts> {
    let variable = std::env::var_os("SSL_CERT_FILE").filter(|value| !value.is_empty());
    let named = file.map(Path::to_owned).or_else(|| variable.map(Into::into));
    let Some(path) = named.or_else(gritstone_store::trusted) else {
        // then connections with TLS fail
        return Ok(RootCerts::Specific(Arc::new(vec![])));
    };
    let pem = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut certificates = vec![];
    for item in parse_pem(&pem) {
        let item = item.with_context(|| format!("{} has no certificates", path.display()))?;
        if let PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    ensure!(!certificates.is_empty(), "{} has no certificates", path.display());
    Ok(RootCerts::Specific(Arc::new(certificates)))
}
