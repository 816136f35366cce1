//! The body of the target for the libraries of scripts: what their parsers make of any bytes, and what must come back
//! the same. Like `bodies`, for which it stands in a file of its own.

use super::kept::Kept;
use moonkeep::{Client, Engine, Limits, Reply};

thread_local! {
    static ENGINES: Kept = const {
        Kept::new(|| {
            let limits = Limits { work: 5_000_000, memory: 16 << 20, ..Limits::default() };
            Engine::builder().script_limits(limits).build()
        })
    };
}

/// Any bytes as JSON, MessagePack, and data and format of `struct`: a value or an error; what was read can be written and
/// read again; values one by one are the values all at once.
pub fn libraries(input: &[u8]) {
    ENGINES.with(|engines| engines.with(|engine| read_and_write(&mut engine.client(), input)));
}

fn read_and_write(client: &mut Client, input: &[u8]) {
    let mut reply = Reply::new();
    client.call_into([b"EVAL", SCRIPT, b"0", input], &mut reply).expect("the engine is free");
    let text = format!("{reply:?}");
    let stopped = ["work budget", "not enough memory"].iter().any(|reason| text.contains(reason));
    assert!(text == "\"done\"" || stopped, "{text}");
    client.call_into([b"EVAL", SCRIPT, b"0", b"[1]"], &mut reply).expect("the engine is free");
    assert_eq!(format!("{reply:?}"), "\"done\"");
}

const SCRIPT: &[u8] = b"
local data = ARGV[1]
local json = cjson.new()
json.decode_max_depth(1e6) json.encode_max_depth(1e6) json.encode_sparse_array(true)

local read, value = pcall(json.decode, data)
local written, text = pcall(json.encode, value)
if read and written then
  local again = json.encode(json.decode(text))
  if #again ~= #text then return 'JSON: ' .. text .. ' ' .. again end
end

local values = {pcall(cmsgpack.unpack, data)}
if values[1] then
  local count, offset = 0, 0
  while offset ~= -1 and #data > 0 do
    offset = cmsgpack.unpack_one(data, offset)
    count = count + 1
  end
  if select('#', cmsgpack.unpack(data)) ~= count then return 'MessagePack: one by one ' .. count end
  local packed = cmsgpack.pack(unpack(values))
  pcall(cmsgpack.unpack, packed)
end
pcall(cmsgpack.unpack_limit, data, 3, 1)

for cut = 0, math.min(#data, 8) do
  local format, rest = data:sub(1, cut), data:sub(cut + 1)
  pcall(struct.size, format)
  pcall(struct.pack, format, 1, -1, 'x', 2.5, 0 / 0, 'yz', 2 ^ 63)
  pcall(struct.unpack, format, rest)
  pcall(struct.unpack, format, rest, -cut)
end
for at = 1, #data - 7, 8 do
  local number = struct.unpack('d', data, at)
  local bits = bit.tobit(number)
  if bit.bxor(bit.bnot(number), bits) ~= -1 or bit.tohex(number) ~= bit.tohex(bits) then return 'bit: ' .. number end
end
return 'done'";
