//! A connection to a real server: commands out, replies of RESP2 in.

use crate::Refusal;
use moonkeep::Reply;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Replies nest no deeper than this.
const DEPTH_MAX: usize = 64;

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection.
pub(super) struct Server {
    stream: BufReader<Box<dyn Stream>>,
}

/// The parts of redis://USER:PASSWORD@HOST:PORT/DB.
struct Address<'a> {
    credentials: Option<(&'a str, &'a str)>,
    place: &'a str,
    database: &'a str,
}

impl Server {
    /// Connects to redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], or unix:PATH.
    pub(super) fn connect(url: &str) -> Result<Self, Refusal> {
        let failed = |error: std::io::Error| Refusal(format!("cannot connect to {url}: {error}"));
        if let Some(path) = url.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let stream = std::os::unix::net::UnixStream::connect(path).map_err(failed)?;
            stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
            return Ok(Server { stream: BufReader::new(Box::new(stream)) });
        }
        let address = Address::parse(url)?;
        let (host, port) = match address.place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| Refusal(format!("{port:?} in {url} is no port")))?)
            }
            _ => (address.place, 6379),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, port)).map_err(failed)?;
        stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(PATIENCE))).map_err(failed)?;
        let mut server = Server { stream: BufReader::new(Box::new(stream)) };
        if let Some((user, password)) = address.credentials {
            let user = if user.is_empty() { "default" } else { user };
            server.must(&[b"AUTH", user.as_bytes(), password.as_bytes()])?;
        }
        server.must(&[b"SELECT", address.database.as_bytes()])?;
        Ok(server)
    }
    fn must(&mut self, words: &[&[u8]]) -> Result<(), Refusal> {
        let reply = self.call(words).map_err(Refusal)?;
        match reply.error_message() {
            Some(text) => Err(Refusal(format!("the server refuses: {}", String::from_utf8_lossy(text)))),
            None => Ok(()),
        }
    }
    /// One command.
    pub(super) fn call(&mut self, words: &[&[u8]]) -> Result<Reply, String> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        let failed = |error: std::io::Error| format!("the connection to the server failed: {error}");
        self.stream.get_mut().write_all(&request).map_err(failed)?;
        let mut reply = Reply::new();
        self.read(&mut reply, 0).map_err(failed)?;
        Ok(reply)
    }
    fn read(&mut self, reply: &mut Reply, depth: usize) -> std::io::Result<()> {
        let wrong = || std::io::Error::new(std::io::ErrorKind::InvalidData, "this is no reply of RESP2");
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        let line = line.strip_suffix(b"\r\n").ok_or_else(wrong)?;
        let (kind, text) = line.split_first().ok_or_else(wrong)?;
        let number = || std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
        match kind {
            b'+' => reply.status_bytes(text),
            b'-' => reply.error_text(text),
            b':' => reply.int(number().ok_or_else(wrong)?),
            b'$' => match usize::try_from(number().ok_or_else(wrong)?) {
                Err(_) => reply.nil(),
                Ok(len) => {
                    let mut bytes = Vec::new();
                    let taken = (&mut self.stream).take(len as u64 + 2).read_to_end(&mut bytes)?;
                    if taken != len + 2 {
                        return Err(wrong());
                    }
                    reply.bulk(&bytes[..len]);
                }
            },
            b'*' if depth < DEPTH_MAX => match usize::try_from(number().ok_or_else(wrong)?) {
                Err(_) => reply.nil_array(),
                Ok(len) => {
                    reply.array(len);
                    for _ in 0..len {
                        self.read(reply, depth + 1)?;
                    }
                }
            },
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Result<Self, Refusal> {
        let rest = url.strip_prefix("redis://").ok_or_else(|| {
            Refusal(format!(
                "--against takes redis://HOST:PORT/DB or unix:PATH, not {url:?}; TLS is not built in"
            ))
        })?;
        let (rest, database) = rest.split_once('/').unwrap_or((rest, "0"));
        let database = if database.is_empty() { "0" } else { database };
        if !database.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Refusal(format!("{database:?} in {url} is no number of a database")));
        }
        let (credentials, place) = match rest.rsplit_once('@') {
            Some((credentials, place)) => {
                (Some(credentials.split_once(':').unwrap_or((credentials, ""))), place)
            }
            None => (None, rest),
        };
        let place = if place.is_empty() { "127.0.0.1" } else { place };
        Ok(Address { credentials, place, database })
    }
}
