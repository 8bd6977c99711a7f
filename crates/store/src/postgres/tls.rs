//! TLS to a server; certificate and name are always checked.

use crate::error::{Fault, StoreError};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Trusts the certificates of a file.
pub(super) fn connector(trusted: &Path) -> Result<MakeRustlsConnect, Fault> {
    let unusable = |why: String| Fault::Whole(StoreError::Url(trusted.to_owned(), why));
    let certificates = CertificateDer::pem_file_iter(trusted);
    let certificates = certificates.map_err(|why| unusable(why.to_string()))?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.filter_map(Result::ok));
    if roots.is_empty() {
        return Err(unusable("it has no certificates".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|why| unusable(why.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
