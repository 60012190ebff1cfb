//! A subject in Rust: the crate half as programs use it, `from_f32`, `from_f64`, `to_f32` and `to_f64`.

mod packcheck_adapter;

use half::{bf16, f16};
use packcheck_adapter::{Adapter, Answer, Failure};

/// Applies `convert` to each element of `FROM` bytes.
fn each<const FROM: usize, const TO: usize>(elements: &[u8], convert: impl Fn([u8; FROM]) -> [u8; TO]) -> Answer {
    if elements.len() % FROM != 0 {
        return Err(Failure::Refused(format!("{} bytes; expected whole elements of {}", elements.len(), FROM)));
    }
    let one = |element: &[u8]| convert(element.try_into().expect("a whole element"));
    Ok(elements.chunks_exact(FROM).flat_map(one).collect())
}

fn run(from: &[u8], to: &[u8], elements: &[u8]) -> Answer {
    match (from, to) {
        (b"f32", b"f16") => each(elements, |e| f16::from_f32(f32::from_le_bytes(e)).to_bits().to_le_bytes()),
        (b"f64", b"f16") => each(elements, |e| f16::from_f64(f64::from_le_bytes(e)).to_bits().to_le_bytes()),
        (b"f32", b"bf16") => each(elements, |e| bf16::from_f32(f32::from_le_bytes(e)).to_bits().to_le_bytes()),
        (b"f64", b"bf16") => each(elements, |e| bf16::from_f64(f64::from_le_bytes(e)).to_bits().to_le_bytes()),
        (b"f16", b"f32") => each(elements, |e| f16::from_bits(u16::from_le_bytes(e)).to_f32().to_le_bytes()),
        (b"f16", b"f64") => each(elements, |e| f16::from_bits(u16::from_le_bytes(e)).to_f64().to_le_bytes()),
        (b"bf16", b"f32") => each(elements, |e| bf16::from_bits(u16::from_le_bytes(e)).to_f32().to_le_bytes()),
        (b"bf16", b"f64") => each(elements, |e| bf16::from_bits(u16::from_le_bytes(e)).to_f64().to_le_bytes()),
        _ => Err(Failure::Skipped("no such conversion".to_string())),
    }
}

fn convert(given: &[&[u8]]) -> Answer {
    if given[2] != b"nearest-even" {
        return Err(Failure::Skipped("rounds to nearest even only".to_string()));
    }
    run(given[0], given[1], given[3])
}

fn main() -> std::io::Result<()> {
    let mut adapter = Adapter::new("half", option_env!("PACKCHECK_HALF_VERSION").unwrap_or("unknown"));
    let narrow = ["convert f32->f16", "convert f64->f16", "convert f32->bf16", "convert f64->bf16"];
    let wide = ["convert f16->f32", "convert f16->f64", "convert bf16->f32", "convert bf16->f64"];
    adapter.offers(&narrow, convert);
    adapter.offers(&wide, convert);
    adapter.offers(&["repack f16->f32", "repack bf16->f32"], |given| run(given[0], given[1], given[2]));
    adapter.run()
}
