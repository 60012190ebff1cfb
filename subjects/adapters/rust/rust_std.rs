//! A subject in Rust: how the standard library itself keeps numbers, `{:?}` and `str::parse` as they are.
//!
//!     rustc -O --edition 2021 subjects/adapters/rust/rust_std.rs -o rust-std
//!     packcheck verify --subject exec:./rust-std

mod packcheck_adapter;

use packcheck_adapter::{Adapter, Answer, Failure};

/// conv2d, generation 2: name, word, lowest bit and largest value of each field.
const FIELDS: [(&str, usize, u32, u64); 5] = [
    ("kernel_h", 0, 16, 0xFF),
    ("kernel_w", 0, 8, 0xFF),
    ("stride", 0, 0, 0xFF),
    ("padding", 1, 16, 0xFFFF),
    ("out_channels", 1, 0, 0xFFFF),
];

/// `COUNT` little-endian numbers of 8 bytes.
fn numbers<const COUNT: usize>(bytes: &[u8]) -> Result<[u64; COUNT], Failure> {
    if bytes.len() != 8 * COUNT {
        return Err(Failure::Refused(format!("{} bytes; expected {}", bytes.len(), 8 * COUNT)));
    }
    let mut read = [0; COUNT];
    for (number, eight) in read.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
    }
    Ok(read)
}

fn check_layout(layout: &[u8]) -> Result<(), Failure> {
    if layout == b"conv2d:gen2" { Ok(()) } else { Err(Failure::Skipped("no such layout".to_string())) }
}

fn print(given: &[&[u8]]) -> Answer {
    let [bits] = numbers(given[0])?;
    Ok(format!("{:?}", f64::from_bits(bits)).into_bytes())
}

fn parse(given: &[&[u8]]) -> Answer {
    let text = std::str::from_utf8(given[0]).map_err(|why| Failure::Refused(why.to_string()))?;
    let value: f64 = text.parse().map_err(|why: std::num::ParseFloatError| Failure::Refused(why.to_string()))?;
    Ok(value.to_bits().to_le_bytes().to_vec())
}

/// As an exporter does: the fields become the bits of two doubles, whose bits are the answer.
fn pack(given: &[&[u8]]) -> Answer {
    check_layout(given[0])?;
    let mut words = [0; 2];
    for (value, (name, word, shift, largest)) in numbers::<5>(given[1])?.into_iter().zip(FIELDS) {
        if value > largest {
            return Err(Failure::Refused(format!("{} is {}; expected 0..{}", name, value as i64, largest)));
        }
        words[word] |= value << shift;
    }
    let doubles = words.map(f64::from_bits);
    Ok(doubles.iter().flat_map(|double| double.to_bits().to_le_bytes()).collect())
}

/// Through `to_bits`: a numeric cast (`scalar as u64`) gives 0 for every packed double.
fn unpack(given: &[&[u8]]) -> Answer {
    check_layout(given[0])?;
    let doubles = numbers::<2>(given[1])?.map(f64::from_bits);
    let field = |(_, word, shift, largest): (&str, usize, u32, u64)| doubles[word].to_bits() >> shift & largest;
    Ok(FIELDS.into_iter().flat_map(|one| field(one).to_le_bytes()).collect())
}

fn main() -> std::io::Result<()> {
    let mut adapter = Adapter::new("rust-std", option_env!("PACKCHECK_RUST_VERSION").unwrap_or("unknown"));
    adapter.offers(&["print json"], print);
    adapter.offers(&["parse json non_finite=refuse"], parse);
    adapter.offers(&["pack conv2d:gen2"], pack);
    adapter.offers(&["unpack conv2d:gen2"], unpack);
    adapter.run()
}
