//! Bodies of requests, with limits of size and lowest rate.

use crate::http::limits::Limits;
use crate::http::response::{Rejection, Status};
use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Receives a body.
///
/// # Errors
/// When it is too long, too slow, or truncated.
pub(crate) async fn receive(
    mut body: Body,
    max: usize,
    limits: &Limits,
) -> Result<Bytes, Rejection> {
    let mut all = vec![];
    let start = Instant::now();
    loop {
        let allowed = Duration::from_secs_f64(all.len() as f64 / f64::from(limits.body_rate));
        let frame = timeout_at(start + limits.body_grace + allowed, body.frame()).await;
        let data = match frame {
            Ok(None) => return Ok(all.into()),
            // trailers are ignored
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            // a disconnect or an HTTP error
            Ok(Some(Err(_))) => return Err(Rejection::new(Status::Wrong, "The body is cut off.")),
            Err(_) => {
                let why = format!(
                    "The body arrives too slowly: send at least {} bytes per second.",
                    limits.body_rate
                );
                return Err(Rejection::new(Status::TooSlow, why));
            }
        };
        if all.len() + data.len() > max {
            return Err(too_long(max));
        }
        all.extend_from_slice(&data);
    }
}

/// Refusal of a body that is too long.
pub(crate) fn too_long(max: usize) -> Rejection {
    Rejection::new(Status::TooLong, format!("The limit is {max} bytes."))
}
