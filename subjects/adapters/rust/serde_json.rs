//! A subject in Rust: the crate serde_json as programs use it, `to_string` and `from_slice` of an `f64`.
//!
//! Compiled twice, against serde_json with its default features and with `float_roundtrip`
//! (subjects/third_party/rust.cmake).

mod packcheck_adapter;

use packcheck_adapter::{Adapter, Answer, Failure};

fn print(given: &[&[u8]]) -> Answer {
    let bits = given[0].try_into().map(u64::from_le_bytes);
    let bits = bits.map_err(|_| Failure::Refused(format!("{} bytes; expected 8", given[0].len())))?;
    let text = serde_json::to_string(&f64::from_bits(bits));
    text.map(String::into_bytes).map_err(|why| Failure::Refused(why.to_string()))
}

fn parse(given: &[&[u8]]) -> Answer {
    let value: f64 = serde_json::from_slice(given[0]).map_err(|why| Failure::Refused(why.to_string()))?;
    Ok(value.to_bits().to_le_bytes().to_vec())
}

fn main() -> std::io::Result<()> {
    let name = if cfg!(feature = "float_roundtrip") { "serde_json-roundtrip" } else { "serde_json" };
    let mut adapter = Adapter::new(name, option_env!("PACKCHECK_SERDE_JSON_VERSION").unwrap_or("unknown"));
    adapter.offers(&["print json"], print);
    adapter.offers(&["parse json non_finite=refuse"], parse);
    adapter.run()
}
