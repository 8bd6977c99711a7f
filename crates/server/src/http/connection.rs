//! Connections: how many there are, how long each may last, and how all of them end.

use crate::http::rate::Buckets;
use crate::http::service::Service;
use crate::http::workers::Workers;
use crate::http::{Log, Make, Policy, Rate, Tls};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::os::unix::net::UnixStream as Stop;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// What clients may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; others wait.
    pub connections: usize,
    /// Time for the head of a request, from the first moment that it could come.
    pub head: Duration,
    /// After this time a connection takes no further request, and after as much again it is cut.
    pub connection: Duration,
    /// Time for what is being answered when the server is to end.
    pub end: Duration,
    /// Threads that answer.
    pub threads: usize,
    /// Bytes of a run that is sent, packed or not.
    pub body: usize,
    /// Runs that are received at once; others wait.
    pub uploads: usize,
    /// Clients that follow a run at once; others are turned away.
    pub followers: usize,
    /// After how long a run that is followed is looked at again.
    pub follow: Duration,
    /// How often a client may ask; `None` for as often as it likes.
    pub rate: Option<Rate>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            head: Duration::from_secs(10),
            connection: Duration::from_secs(60),
            end: Duration::from_secs(5),
            threads: 2,
            body: 64 << 20,
            uploads: 4,
            followers: 32,
            follow: Duration::from_secs(1),
            rate: None,
        }
    }
}

/// Room for the head of a request.
const HEAD: usize = 16 << 10;
const HEADERS: usize = 64;
/// How long a failing accept(2) is left alone: descriptors may be short for a while.
const PAUSE: Duration = Duration::from_millis(100);

/// A server.
pub struct Config {
    /// What clients may take.
    pub limits: Limits,
    /// Who is answered.
    pub policy: Policy,
    /// By what connections are encrypted; `None` for plain text.
    pub tls: Option<Tls>,
    /// Makes what answers.
    pub make: Make,
    /// Is told what went wrong.
    pub log: Log,
}

/// Answers connections until `stop` can be read, then ends them.
///
/// # Errors
/// When no thread can be started, or the listener is none.
pub fn serve(listener: std::net::TcpListener, stop: Stop, config: Config) -> io::Result<()> {
    let Config { limits, tls, .. } = config;
    let (end, ends) = watch::channel(false);
    let service = Service {
        policy: config.policy,
        workers: Workers::start(limits.threads, &config.make)?,
        log: config.log,
        limits,
        uploads: Semaphore::new(limits.uploads),
        followers: Arc::new(Semaphore::new(limits.followers)),
        rate: limits.rate.map(Buckets::new),
        ends,
    };
    listener.set_nonblocking(true)?;
    stop.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let stop = UnixStream::from_std(stop)?;
        accept(&listener, &stop, &end, tls.as_ref(), &Arc::new(service)).await
    })
}

async fn accept(
    listener: &TcpListener,
    stop: &UnixStream,
    end: &watch::Sender<bool>,
    tls: Option<&Tls>,
    service: &Arc<Service>,
) -> io::Result<()> {
    let limits = service.limits;
    let room = Arc::new(Semaphore::new(limits.connections));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            // never closed
            let place = Arc::clone(&room).acquire_owned().await;
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
                    let (service, tls) = (Arc::clone(service), tls.cloned());
                    let peer = peer.ip();
                    connections.spawn(async move {
                        match tls {
                            None => converse(stream, peer, &service).await,
                            Some(tls) => {
                                let secret = timeout(limits.head, tls.0.accept(stream)).await;
                                // who speaks no TLS is not answered
                                if let Ok(Ok(stream)) = secret {
                                    converse(stream, peer, &service).await;
                                }
                            }
                        }
                        drop(place);
                    });
                }
                Err(why) => {
                    (service.log)(&format!("cannot accept a connection: {why}"));
                    sleep(PAUSE).await;
                }
            },
        }
    }
    let _ = end.send(true);
    // what is not done by then is cut
    let _ = timeout(limits.end, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
    Ok(())
}

/// One connection, for as long as it may last.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: IpAddr,
    service: &Arc<Service>,
) {
    let limits = service.limits;
    let mut ends = service.ends.clone();
    let answer = service_fn(|request| {
        let service = Arc::clone(service);
        async move { Ok::<_, Infallible>(service.answer(request, peer).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(HEAD)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // whatever is wrong with it is the client's to know
        _ = connection.as_mut() => return,
        () = sleep(limits.connection) => {}
        _ = ends.wait_for(|end| *end) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(limits.connection, connection).await;
}
