//! The load: connections that each send a message and wait for its answer, by one
//! thread with a poller of its own.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use polling::{Event, Events, Poller};

/// What the connections say.
#[derive(Clone, Copy)]
pub(crate) struct Talk {
    pub(crate) message: &'static [u8],
    /// Whether these bytes are the whole answer.
    pub(crate) is_answer: fn(&[u8]) -> bool,
}

/// Some connections to one server.
pub(crate) struct Client {
    talk: Talk,
    poller: Poller,
    connections: Vec<Connection>,
}

struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    sent: Instant,
}

impl Client {
    pub(crate) fn connect(port: u16, connections: usize, talk: Talk) -> io::Result<Self> {
        let poller = Poller::new()?;
        let connect = |_| {
            let stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(Connection {
                stream,
                received: Vec::new(),
                sent: Instant::now(),
            })
        };
        let connections = (0..connections)
            .map(connect)
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            talk,
            poller,
            connections,
        })
    }

    /// Has the first connection send and wait, again and again, with a pause between.
    pub(crate) fn ping(&mut self, time: Duration, pause: Duration) -> io::Result<Vec<Duration>> {
        let (begun, mut times) = (Instant::now(), Vec::new());
        let connection = &mut self.connections[0];
        connection.stream.set_nonblocking(false)?;
        while begun.elapsed() < time {
            connection.send(self.talk)?;
            while !connection.receive(self.talk)? {}
            times.push(connection.sent.elapsed());
            if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
        Ok(times)
    }

    /// Has every connection send and wait, again and again, for so long; returns how long
    /// each message took.
    pub(crate) fn run(&mut self, time: Duration) -> io::Result<Vec<Duration>> {
        if self.connections.len() == 1 {
            // No need to ask which one it is.
            return self.ping(time, Duration::ZERO);
        }
        let (begun, mut times) = (Instant::now(), Vec::new());
        for (key, connection) in self.connections.iter_mut().enumerate() {
            // SAFETY: it is deleted from the poller below, before it is dropped.
            unsafe { self.poller.add(&connection.stream, Event::readable(key))? };
            connection.send(self.talk)?;
        }
        let mut events = Events::new();
        let mut waiting = self.connections.len();
        while waiting > 0 {
            events.clear();
            self.poller.wait(&mut events, None)?;
            let goes_on = begun.elapsed() < time;
            for event in events.iter() {
                let connection = &mut self.connections[event.key];
                self.poller
                    .modify(&connection.stream, Event::readable(event.key))?;
                if connection.receive(self.talk)? {
                    times.push(connection.sent.elapsed());
                    if goes_on {
                        connection.send(self.talk)?;
                    } else {
                        waiting -= 1;
                    }
                }
            }
        }
        for connection in &self.connections {
            self.poller.delete(&connection.stream)?;
        }
        Ok(times)
    }
}

impl Connection {
    fn send(&mut self, talk: Talk) -> io::Result<()> {
        self.received.clear();
        self.sent = Instant::now();
        // A message is small, and the answer to the last one has arrived: it fits.
        self.stream.write_all(talk.message)
    }

    /// Reads what is there; returns whether the answer is complete.
    fn receive(&mut self, talk: Talk) -> io::Result<bool> {
        let mut buffer = [0; 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.received.extend_from_slice(&buffer[..count]);
                Ok((talk.is_answer)(&self.received))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}
