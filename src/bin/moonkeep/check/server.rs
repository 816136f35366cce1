//! A connection to a real server: commands out, replies of RESP2 in.

use crate::Refusal;
use moonkeep::Reply;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Replies nest no deeper than this: far deeper than a script's reply can.
const DEPTH_MAX: usize = 10_000;

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection.
pub(super) struct Server {
    url: String,
    /// None when it failed: a reply that comes late would answer the next command. That one gets a fresh connection.
    stream: Option<BufReader<Box<dyn Stream>>>,
}

/// The parts of redis://USER:PASSWORD@HOST:PORT/DB.
struct Address<'a> {
    credentials: Option<(Vec<u8>, Vec<u8>)>,
    place: &'a str,
    database: &'a str,
}

impl Server {
    /// Connects to redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], or unix:PATH.
    pub(super) fn connect(url: &str) -> Result<Self, Refusal> {
        let mut server = Server { url: url.to_owned(), stream: None };
        server.open()?;
        Ok(server)
    }
    fn open(&mut self) -> Result<(), Refusal> {
        let failed_at =
            |place: &str, error: std::io::Error| Refusal(format!("cannot connect to {place}: {error}"));
        let url = self.url.clone();
        if let Some(path) = url.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let failed = |error| failed_at(&url, error);
            let stream = std::os::unix::net::UnixStream::connect(path).map_err(failed)?;
            stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
            stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
            self.stream = Some(BufReader::new(Box::new(stream)));
            return Ok(());
        }
        let address = Address::parse(&url)?;
        // Without the password.
        let failed = |error| failed_at(address.place, error);
        let (host, port) = match address.place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (
                host,
                port.parse().map_err(|_| Refusal(format!("{port:?} in {} is no port", address.place)))?,
            ),
            _ => (address.place, 6379),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, port)).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        self.stream = Some(BufReader::new(Box::new(stream)));
        let begun = self.begin(&address);
        if begun.is_err() {
            // What would come next is not for whom the URL names.
            self.stream = None;
        }
        begun
    }
    fn begin(&mut self, address: &Address<'_>) -> Result<(), Refusal> {
        if let Some((user, password)) = &address.credentials {
            let user = if user.is_empty() { b"default" } else { &user[..] };
            self.must(&[b"AUTH", user, password])?;
        }
        self.must(&[b"SELECT", address.database.as_bytes()])
    }
    fn must(&mut self, words: &[&[u8]]) -> Result<(), Refusal> {
        let reply = self.exchange(words).map_err(Refusal)?;
        match reply.error_message() {
            Some(text) => Err(Refusal(format!("the server refuses: {}", String::from_utf8_lossy(text)))),
            None => Ok(()),
        }
    }
    /// One command.
    pub(super) fn call(&mut self, words: &[&[u8]]) -> Result<Reply, String> {
        if self.stream.is_none() {
            self.open().map_err(|Refusal(told)| told)?;
        }
        self.exchange(words)
    }
    fn exchange(&mut self, words: &[&[u8]]) -> Result<Reply, String> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        let mut stream = self.stream.take().ok_or("there is no connection to the server")?;
        let answer = stream.get_mut().write_all(&request).and_then(|()| read(&mut stream));
        let reply = answer.map_err(|error| format!("the connection to the server failed: {error}"))?;
        self.stream = Some(stream);
        Ok(reply)
    }
}

/// A reply of RESP2.
fn read(stream: &mut impl BufRead) -> std::io::Result<Reply> {
    let wrong = || std::io::Error::new(std::io::ErrorKind::InvalidData, "this is no reply of RESP2");
    let mut reply = Reply::new();
    // How many elements are still to come of each array that is open.
    let mut open = vec![1];
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        if let Some(len) = read_one(stream, &mut reply)? {
            open.push(len);
        }
        if open.len() > DEPTH_MAX {
            return Err(wrong());
        }
    }
    Ok(reply)
}

/// One value, or the beginning of an array: how many elements it has.
fn read_one(stream: &mut impl BufRead, reply: &mut Reply) -> std::io::Result<Option<usize>> {
    let wrong = || std::io::Error::new(std::io::ErrorKind::InvalidData, "this is no reply of RESP2");
    let mut line = Vec::new();
    if stream.read_until(b'\n', &mut line)? == 0 {
        return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the server has closed it"));
    }
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
                let taken = stream.take(len as u64 + 2).read_to_end(&mut bytes)?;
                if taken != len + 2 {
                    return Err(wrong());
                }
                reply.bulk(&bytes[..len]);
            }
        },
        b'*' => match usize::try_from(number().ok_or_else(wrong)?) {
            Err(_) => reply.nil_array(),
            Ok(len) => {
                reply.array(len);
                return Ok(Some(len));
            }
        },
        _ => return Err(wrong()),
    }
    Ok(None)
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Result<Self, Refusal> {
        let rest = url.strip_prefix("redis://").ok_or_else(|| {
            let kind = url.split_once("://").map_or("another text", |(kind, _)| kind);
            Refusal(format!(
                "--against takes redis://HOST:PORT/DB or unix:PATH, not {kind:?}; TLS is not built in"
            ))
        })?;
        let (rest, database) = rest.split_once('/').unwrap_or((rest, "0"));
        let database = if database.is_empty() { "0" } else { database };
        if !database.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Refusal("after the / of --against stands the number of a database".into()));
        }
        let (credentials, place) = match rest.rsplit_once('@') {
            Some((credentials, place)) => {
                let (user, password) = credentials.split_once(':').ok_or_else(|| {
                    Refusal("before the @ of --against stands USER:PASSWORD or :PASSWORD".into())
                })?;
                (Some((decoded(user), decoded(password))), place)
            }
            None => (None, rest),
        };
        let place = if place.is_empty() { "127.0.0.1" } else { place };
        Ok(Address { credentials, place, database })
    }
}

/// What `%2F` and the like stand for in a URL.
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let is_code = |code: &&[u8]| *first == b'%' && code.iter().all(u8::is_ascii_hexdigit);
        let code = after.get(..2).filter(is_code);
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_however_deep_they_are() {
        let read = |text: &str| read(&mut text.as_bytes()).map(|reply| format!("{reply:?}"));
        assert_eq!(read("*2\r\n*0\r\n*1\r\n$1\r\na\r\n").expect("a reply"), "[[], [\"a\"]]");
        let deep = |depth: usize| read(&format!("{}:1\r\n", "*1\r\n".repeat(depth)));
        assert_eq!(deep(70).expect("a reply"), format!("{}:1{}", "[".repeat(70), "]".repeat(70)));
        assert_eq!(deep(DEPTH_MAX).expect_err("too deep").to_string(), "this is no reply of RESP2");
    }

    /// What a server gets on one connection, each answered with what stands there.
    fn serve(listener: &std::os::unix::net::UnixListener, answers: &[&str]) -> Vec<u8> {
        let (mut stream, _) = listener.accept().expect("it connects");
        let mut got = Vec::new();
        for answer in answers {
            let mut bytes = [0; 4096];
            let len = stream.read(&mut bytes).expect("a command");
            got.extend_from_slice(&bytes[..len]);
            stream.write_all(answer.as_bytes()).expect("it takes the answer");
        }
        got
    }

    #[test]
    fn what_follows_a_failure_goes_over_a_fresh_connection() {
        let path = std::env::temp_dir().join(format!("moonkeep-check-server-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = std::os::unix::net::UnixListener::bind(&path).expect("it listens");
        let served = std::thread::spawn(move || {
            serve(&listener, &["no reply\r\n"]);
            serve(&listener, &["+PONG\r\n"])
        });
        let mut server =
            Server::connect(&format!("unix:{}", path.display())).unwrap_or_else(|_| panic!("no server"));
        let told = server.call(&[b"GET", b"k"]).expect_err("no reply");
        assert_eq!(told, "the connection to the server failed: this is no reply of RESP2");
        assert_eq!(server.call(&[b"PING"]).map(|reply| format!("{reply:?}")), Ok("+PONG".to_owned()));
        assert_eq!(served.join().expect("it served"), b"*1\r\n$4\r\nPING\r\n");
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn credentials_are_decoded_and_never_shown() {
        assert_eq!(decoded("p%2Fq%40%"), b"p/q@%");
        let credentials = |url| Address::parse(url).map(|address| address.credentials);
        let both = Some((b"bob".to_vec(), b"a/b".to_vec()));
        assert!(credentials("redis://bob:a%2Fb@h:1/2").is_ok_and(|found| found == both));
        let refused = |url| Address::parse(url).err().map(|error| error.0).unwrap_or_default();
        assert!(refused("redis://secret@h").starts_with("before the @"), "{}", refused("redis://secret@h"));
        for url in ["redis://secret@h", "rediss://u:secret@h", "redis://u:secret@h/x", "u:secret@h"] {
            assert!(!refused(url).is_empty() && !refused(url).contains("secret"), "{}", refused(url));
        }
    }
}
