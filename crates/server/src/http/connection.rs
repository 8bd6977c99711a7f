//! Connections: their number, their duration, and their orderly end.

use crate::http::budget::Client;
use crate::http::connections::{Connection, Connections};
use crate::http::limits::Limits;
use crate::http::service::{Service, routed, router};
use crate::http::site::{Config, Log, Site};
use crate::http::tls::Tls;
use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::IpAddr;
use std::os::unix::net::UnixStream as Stop;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower_service::Service as _;

/// Largest head of a request, bytes.
const HEAD: usize = 16 << 10;
const HEADERS: usize = 64;
/// Pause after a failed accept(2): descriptors may be short for a while.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `stop` becomes readable, then ends them.
///
/// # Errors
/// When no thread can be started, or the listener is invalid.
pub fn serve<P: Site>(
    listener: std::net::TcpListener,
    stop: Stop,
    config: Config<P>,
) -> io::Result<()> {
    let (limits, tls) = (config.limits, config.tls.clone());
    let (end, ends) = watch::channel(false);
    let service = Service::start(config, ends.clone())?;
    listener.set_nonblocking(true)?;
    stop.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let stop = UnixStream::from_std(stop)?;
        let server = Server {
            limits,
            log: Arc::clone(&service.log),
            tls,
            ends,
            router: router(Arc::new(service)),
        };
        server.accept(&listener, &stop, &end).await
    })
}

/// Shared state of connections.
#[derive(Clone)]
struct Server {
    limits: Limits,
    log: Log,
    tls: Option<Tls>,
    router: Router,
    ends: watch::Receiver<bool>,
}

impl Server {
    async fn accept(
        &self,
        listener: &TcpListener,
        stop: &UnixStream,
        end: &watch::Sender<bool>,
    ) -> io::Result<()> {
        let open = Connections::new(self.limits.connections, self.limits.connections_each);
        let mut connections = JoinSet::new();
        let mut number = 0;
        loop {
            let next = async {
                let place = open.place().await;
                (place, listener.accept().await)
            };
            tokio::select! {
                stopped = stop.readable() => {
                    stopped?;
                    break;
                }
                Some(_) = connections.join_next() => {}
                (place, accepted) = next => match accepted {
                    Ok((stream, peer)) => {
                        number += 1;
                        let Some(opened) = open.enter(number, place, Client::from_address(peer.ip())) else {
                            (self.log)("a client has too many connections: its next one is refused");
                            continue;
                        };
                        let server = self.clone();
                        connections.spawn(async move {
                            let connection = &opened.connection;
                            tokio::select! {
                                () = server.connection(stream, peer.ip(), connection) => {}
                                () = connection.cut.notified() => {}
                            }
                        });
                    }
                    Err(why) => {
                        (self.log)(&format!("cannot accept a connection: {why}"));
                        sleep(PAUSE).await;
                    }
                },
            }
        }
        let _ = end.send(true);
        // unfinished connections are cut
        let _ =
            timeout(self.limits.end, async { while connections.join_next().await.is_some() {} })
                .await;
        Ok(())
    }

    async fn connection(&self, stream: TcpStream, peer: IpAddr, connection: &Connection) {
        match &self.tls {
            None => self.converse(stream, peer, connection).await,
            Some(tls) => {
                let secret = timeout(self.limits.head, tls.0.accept(stream)).await;
                // clients without TLS get no answer
                if let Ok(Ok(stream)) = secret {
                    self.converse(stream, peer, connection).await;
                }
            }
        }
    }

    /// Serves one connection up to its time limit.
    async fn converse(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        peer: IpAddr,
        connection: &Connection,
    ) {
        let limits = self.limits;
        let mut ends = self.ends.clone();
        let answer = service_fn(|request: hyper::Request<Incoming>| {
            let busy = connection.busy();
            let answer = self.router.clone().call(routed(request.map(Body::new), peer));
            async move {
                let answer = answer.await;
                drop(busy);
                answer
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_buf_size(HEAD)
            .max_headers(HEADERS)
            .serve_connection(TokioIo::new(stream), answer);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            // errors of a connection are the client's
            _ = connection.as_mut() => return,
            () = sleep(limits.connection) => {}
            _ = ends.wait_for(|end| *end) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = timeout(limits.connection, connection).await;
    }
}
