//! The bytes of SQLite's write-ahead log and of its index: <https://sqlite.org/walformat.html>.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const VERSION: u32 = 3_007_000;
const MAGIC: u32 = 0x377f_0682;

/// Two running sums, as SQLite chains them through the log.
type Sums = [u32; 2];

/// A frame of the log: one page as a transaction wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// The page's number.
    pub(super) page: u32,
    /// Whether it is the last of its transaction.
    pub(super) commits: bool,
    /// Whether it was written since the log last began anew: its salts are the log's.
    pub(super) current: bool,
}

/// A log as it stands in its file.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Its whole frames, in order.
    pub(super) frames: Vec<Frame>,
    /// How many of them SQLite would read: their sums follow from the header on.
    pub(super) sound: usize,
    salts: [u8; 8],
}

impl Log {
    /// Reads the log at `path` of a store with pages of `page_size` bytes. None if there is none.
    pub(super) fn read(path: &Path, page_size: usize) -> io::Result<Option<Self>> {
        let mut file = match File::open(path) {
            Ok(file) => BufReader::with_capacity(1 << 18, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut header = [0; HEADER];
        if !filled(&mut file, &mut header)? {
            return Ok(None);
        }
        let header = Header::of(&header, page_size);
        let mut log = Self { salts: header.salts, ..Self::default() };
        let mut before = header.sound.then_some(header.sums);
        let mut bytes = vec![0; FRAME_HEADER + page_size];
        while filled(&mut file, &mut bytes)? {
            if log.frames.is_empty() && !header.sound {
                // The header's own salts may be what was damaged.
                log.salts.copy_from_slice(&bytes[8..16]);
            }
            let current = bytes[8..16] == log.salts;
            let stored = [big(&bytes, 16), big(&bytes, 20)];
            before = before
                .map(|before| {
                    sums(header.order, sums(header.order, before, &bytes[..8]), &bytes[FRAME_HEADER..])
                })
                .filter(|sums| current && *sums == stored && big(&bytes, 0) != 0);
            log.sound += usize::from(before.is_some());
            log.frames.push(Frame { page: big(&bytes, 0), commits: big(&bytes, 4) != 0, current });
        }
        Ok(Some(log))
    }

    /// How many frames the index at `path` says were acknowledged, if it is of this log.
    pub(super) fn acknowledged(&self, index: &Path) -> io::Result<Option<usize>> {
        let mut bytes = [0; 2 * INDEX_HEADER];
        match File::open(index) {
            Ok(file) if filled(&mut &file, &mut bytes)? => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let copies = bytes.chunks_exact(INDEX_HEADER).filter(|copy| is_sound_index(copy));
        let of_this = copies.filter(|copy| copy[32..40] == self.salts);
        Ok(of_this.map(|copy| native(copy, 16) as usize).max())
    }

    /// Where the page of a frame begins in the file.
    pub(super) fn place_of(frame: usize, page_size: usize) -> u64 {
        (HEADER + frame * (FRAME_HEADER + page_size) + FRAME_HEADER) as u64
    }
}

/// The header of an index stands there twice.
const INDEX_HEADER: usize = 48;

fn is_sound_index(copy: &[u8]) -> bool {
    let order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };
    let stored = [native(copy, 40), native(copy, 44)];
    native(copy, 0) == VERSION && copy[12] != 0 && sums(order, [0, 0], &copy[..40]) == stored
}

struct Header {
    order: Order,
    salts: [u8; 8],
    sums: Sums,
    sound: bool,
}

/// How the words that are summed up are read.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Header {
    fn of(bytes: &[u8; HEADER], page_size: usize) -> Self {
        let magic = big(bytes, 0);
        let order = if magic & 1 == 1 { Order::Big } else { Order::Little };
        let sums = sums(order, [0, 0], &bytes[..24]);
        let size = big(bytes, 8) as usize;
        let sound = magic & !1 == MAGIC
            && big(bytes, 4) == VERSION
            && size == page_size
            && sums == [big(bytes, 24), big(bytes, 28)];
        let mut salts = [0; 8];
        salts.copy_from_slice(&bytes[16..24]);
        Self { order, salts, sums, sound }
    }
}

fn sums(order: Order, seed: Sums, bytes: &[u8]) -> Sums {
    let word = |bytes: &[u8]| match order {
        Order::Little => big(bytes, 0).swap_bytes(),
        Order::Big => big(bytes, 0),
    };
    bytes.chunks_exact(8).fold(seed, |[a, b], pair| {
        let a = a.wrapping_add(word(&pair[..4])).wrapping_add(b);
        [a, b.wrapping_add(word(&pair[4..])).wrapping_add(a)]
    })
}

/// The number of four bytes at a place that is known to be there.
fn big(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn native(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Fills the buffer; false if the file ends before.
fn filled(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
