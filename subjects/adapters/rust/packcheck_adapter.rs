//! Lets packcheck judge an implementation written in Rust: the standard library, no crates.
//!
//! ```ignore
//! mod packcheck_adapter;
//! use packcheck_adapter::{Adapter, Answer, Failure};
//!
//! fn main() -> std::io::Result<()> {
//!     let mut adapter = Adapter::new("mine", "1.0");
//!     adapter.offers(&["parse json"], |given| ...);
//!     adapter.run()
//! }
//! ```
//!
//! and then `packcheck verify --subject exec:./mine`. (A crate that builds a `cdylib` can offer the C table of
//! subjects/include/packcheck/subject.h instead.)
//!
//! A function gets the arguments of its operation as byte slices and returns the answer as bytes (see
//! subjects/PROTOCOL.md for both), `Failure::Refused` when the input is unsound, or `Failure::Skipped` for a
//! variant that it does not have. A panic is reported as an error of the adapter, which packcheck counts
//! against the subject. What is printed goes to standard error, so it cannot damage a frame.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};

const PROTOCOL_VERSION: &[u8] = b"1";
const LARGEST_PAYLOAD: usize = 256 << 20;

/// Why there is no answer, in words.
#[allow(dead_code)] // not every subject has both
pub enum Failure {
    Refused(String),
    Skipped(String),
}

pub type Answer = Result<Vec<u8>, Failure>;

extern "C" {
    fn dup(file: i32) -> i32;
    fn dup2(from: i32, to: i32) -> i32;
}

/// Joins byte strings, each behind its length.
fn encode(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut joined = Vec::new();
    for part in parts {
        joined.extend_from_slice(&(part.len() as u32).to_le_bytes());
        joined.extend_from_slice(part);
    }
    joined
}

fn broken(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_string())
}

/// The byte strings in a payload.
fn decode(mut left: &[u8]) -> io::Result<Vec<&[u8]>> {
    let mut parts = Vec::new();
    while !left.is_empty() {
        let header = left.get(..4).ok_or_else(|| broken("a length is cut off"))?;
        let size = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        parts.push(left[4..].get(..size).ok_or_else(|| broken("a part runs past its payload"))?);
        left = &left[4 + size..];
    }
    if parts.is_empty() {
        return Err(broken("a payload without parts"));
    }
    Ok(parts)
}

fn reply(word: &str, message: &str) -> Vec<Vec<u8>> {
    vec![word.as_bytes().to_vec(), message.as_bytes().to_vec()]
}

/// Answers packcheck's requests with the functions registered here.
pub struct Adapter {
    hello: Vec<String>,
    functions: Vec<(String, fn(&[&[u8]]) -> Answer)>,
}

impl Adapter {
    pub fn new(name: &str, version: &str) -> Adapter {
        Adapter { hello: vec![name.to_string(), version.to_string()], functions: Vec::new() }
    }

    /// The function answers these declarations, all of one operation.
    pub fn offers(&mut self, declarations: &[&str], function: fn(&[&[u8]]) -> Answer) {
        for line in declarations {
            let operation = line.split(' ').next().unwrap_or_default();
            self.hello.push(line.to_string());
            self.functions.push((operation.to_string(), function));
        }
    }

    /// The reply to one request, as parts.
    fn answer(&self, parts: &[&[u8]]) -> io::Result<Vec<Vec<u8>>> {
        let given = &parts[1..];
        match parts[0] {
            b"hello" if given == [PROTOCOL_VERSION] => {
                let texts = self.hello.iter().map(|text| text.clone().into_bytes());
                Ok([b"hello".to_vec(), PROTOCOL_VERSION.to_vec()].into_iter().chain(texts).collect())
            }
            b"hello" => Ok(reply("refused", "another protocol version; expected '1'")),
            b"batch" => {
                let mut replies = vec![b"batch".to_vec()];
                for request in given {
                    replies.push(encode(&self.answer(&decode(request)?)?));
                }
                Ok(replies)
            }
            word => Ok(match self.functions.iter().find(|(name, _)| name.as_bytes() == word) {
                None => reply("skipped", "no such operation here"),
                Some((_, function)) => match catch_unwind(AssertUnwindSafe(|| function(given))) {
                    Ok(Ok(bytes)) => vec![b"answered".to_vec(), bytes],
                    Ok(Err(Failure::Refused(why))) => reply("refused", &why),
                    Ok(Err(Failure::Skipped(why))) => reply("skipped", &why),
                    Err(_) => reply("error", "the function panicked; see standard error"),
                },
            }),
        }
    }

    /// Answers until packcheck closes the pipe.
    pub fn run(&self) -> io::Result<()> {
        // From here on, standard output is standard error; frames have the old one.
        let mut replies = unsafe {
            let old = File::from_raw_fd(dup(1));
            dup2(2, 1);
            old
        };
        let mut requests = io::stdin().lock();
        loop {
            let mut header = [0; 4];
            match requests.read(&mut header[..1])? {
                0 => return Ok(()),
                _ => requests.read_exact(&mut header[1..])?,
            }
            let size = u32::from_le_bytes(header) as usize;
            if size > LARGEST_PAYLOAD {
                return Err(broken("a frame is too large"));
            }
            let mut payload = vec![0; size];
            requests.read_exact(&mut payload)?;
            let reply = encode(&self.answer(&decode(&payload)?)?);
            replies.write_all(&encode(&[reply]))?;
        }
    }
}
