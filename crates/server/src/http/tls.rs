//! TLS: a certificate and its key from files.

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// TLS configuration of connections.
#[derive(Clone)]
pub struct Tls(pub(crate) TlsAcceptor);

impl Tls {
    /// Reads a certificate chain, the server's first, and its key, both as PEM.
    ///
    /// # Errors
    /// Names the file and the fault.
    pub fn from_files(certificates: &Path, key: &Path) -> Result<Self, String> {
        let wrong = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let chain = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|why| wrong(certificates, &why))?;
        if chain.is_empty() {
            return Err(wrong(certificates, &"no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|why| wrong(key, &why))?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|why| why.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|why| wrong(key, &why))?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}
