// QR codes of texts (ISO/IEC 18004): bytes, the correction level M, versions 1 to 10. Pure.

/** For each version: the correction bytes of a block, and the data bytes of each block. */
const blocks = [
  [10, 16], [16, 28], [26, 44], [18, 32, 32], [24, 43, 43], [16, 27, 27, 27, 27], [18, 31, 31, 31, 31], [22, 38, 38, 39, 39],
  [22, 36, 36, 36, 37, 37], [26, 43, 43, 43, 43, 44],
];
/** The positions of the alignment patterns of each version. */
const alignments = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

const masks = [
  (y, x) => (y + x) % 2, (y) => y % 2, (y, x) => x % 3, (y, x) => (y + x) % 3, (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2,
  (y, x) => ((y * x) % 2) + ((y * x) % 3), (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2, (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2,
];

/** Multiplies two elements of the field of 256 elements. */
function times(one, other) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ (product & 0x80 ? 0x11d : 0);
    if ((other >> bit) & 1) product ^= one;
  }
  return product;
}

/** Returns the correction bytes of a block (Reed and Solomon). */
function correction(data, count) {
  const divisor = Array(count).fill(0);
  divisor[count - 1] = 1;
  for (let index = 0, root = 1; index < count; index += 1, root = times(root, 2)) {
    for (let place = 0; place < count; place += 1) divisor[place] = times(divisor[place], root) ^ (divisor[place + 1] ?? 0);
  }
  const rest = Array(count).fill(0);
  for (const byte of data) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    divisor.forEach((one, index) => { rest[index] ^= times(one, factor); });
  }
  return rest;
}

/** Returns the bytes of a text as the code has them, with their corrections; null if it has too many. */
function codewords(bytes) {
  const version = blocks.findIndex(([, ...sizes], index) => bytes.length + (index < 9 ? 2 : 3) <= sizes.reduce((sum, one) => sum + one, 0)) + 1;
  if (!version) return null;
  const [count, ...sizes] = blocks[version - 1];
  const capacity = sizes.reduce((sum, one) => sum + one, 0);
  // The mode, the length and the bytes begin in the middle of a byte.
  const digits = [4, ...(version < 10 ? [] : [bytes.length >> 12, (bytes.length >> 8) & 15]), (bytes.length >> 4) & 15, bytes.length & 15,
    ...[...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const data = Array.from({ length: digits.length / 2 }, (_, index) => digits[2 * index] * 16 + digits[2 * index + 1]);
  for (let pad = 0xec; data.length < capacity; pad ^= 0xec ^ 0x11) data.push(pad);
  let start = 0;
  const parts = sizes.map((size) => data.slice(start, start += size));
  const corrections = parts.map((part) => correction(part, count));
  const woven = (lists) => Array.from({ length: Math.max(...lists.map((one) => one.length)) }, (_, index) => lists.map((one) => one[index])).flat().filter((one) => one !== undefined);
  return { version, bytes: [...woven(parts), ...woven(corrections)] };
}

/** Returns the remainder of a value with a divisor of some bits, after the value. */
function withCheck(value, divisor, bits) {
  let rest = value;
  for (let index = 0; index < bits; index += 1) rest = (rest << 1) ^ ((rest >> (bits - 1)) * divisor);
  return (value << bits) | rest;
}

/** Draws the parts that do not depend on the data. `undefined` is a module of the data. */
function frame(version, mask) {
  const size = 17 + 4 * version;
  const grid = Array.from({ length: size }, () => Array(size));
  const put = (x, y, value) => { if (grid[y]?.length === size && x >= 0 && x < size) grid[y][x] = Boolean(value); };
  for (let index = 0; index < size; index += 1) {
    put(6, index, index % 2 === 0);
    put(index, 6, index % 2 === 0);
  }
  const rings = (x, y, radius, isLight) => {
    for (let dy = -radius; dy <= radius; dy += 1) for (let dx = -radius; dx <= radius; dx += 1) put(x + dx, y + dy, !isLight(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) rings(x, y, 4, (ring) => ring === 2 || ring === 4);
  const places = alignments[version - 1];
  const last = places.length - 1;
  places.forEach((x, column) => places.forEach((y, row) => {
    const isFinder = (column === 0 && row === 0) || (column === last && row === 0) || (column === 0 && row === last);
    if (!isFinder) rings(x, y, 2, (ring) => ring === 1);
  }));
  // The level M is 0.
  const format = withCheck(mask, 0x537, 10) ^ 0x5412;
  for (let index = 0; index < 15; index += 1) {
    const bit = (format >> index) & 1;
    put(8, index < 6 ? index : index < 8 ? index + 1 : size - 15 + index, bit);
    put(index < 8 ? size - 1 - index : index === 8 ? 7 : 14 - index, 8, bit);
  }
  put(8, size - 8, true);
  const number = withCheck(version, 0x1f25, 12);
  for (let index = 0; version > 6 && index < 18; index += 1) {
    const [near, far] = [Math.floor(index / 3), size - 11 + (index % 3)];
    put(far, near, (number >> index) & 1);
    put(near, far, (number >> index) & 1);
  }
  return grid;
}

/** Writes the bits of bytes into the free modules, from the right in pairs of columns, up and down in turn. */
function fill(grid, bytes, mask) {
  const size = grid.length;
  let bit = 0;
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const y = isUp ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (grid[y][x] !== undefined) continue;
        const value = ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
        grid[y][x] = Boolean(value) !== (masks[mask](y, x) === 0);
        bit += 1;
      }
    }
  }
  return grid;
}

/** Returns how hard a code is to read: long runs, squares, patterns as in its corners, and an excess of one color. */
function penalty(grid) {
  const size = grid.length;
  let [sum, dark] = [0, 0];
  for (const lines of [grid, grid.map((_, x) => grid.map((row) => row[x]))]) {
    for (const line of lines) {
      const text = line.map((one) => (one ? "1" : "0")).join("");
      for (const [run] of text.matchAll(/1{5,}|0{5,}/g)) sum += run.length - 2;
      for (const pattern of ["10111010000", "00001011101"]) {
        for (let index = text.indexOf(pattern); index >= 0; index = text.indexOf(pattern, index + 1)) sum += 40;
      }
    }
  }
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      dark += grid[y][x];
      if (x && y && grid[y][x] === grid[y - 1][x] && grid[y][x] === grid[y][x - 1] && grid[y][x] === grid[y - 1][x - 1]) sum += 3;
    }
  }
  return sum + 10 * Math.floor(Math.abs(dark / size ** 2 - 0.5) * 20);
}

/** Returns the modules of a text's code, true for dark ones; null if the text is too long. */
export function modules(text) {
  const found = codewords(new TextEncoder().encode(text));
  if (!found) return null;
  const all = masks.map((_, mask) => fill(frame(found.version, mask), found.bytes, mask));
  return all.reduce((best, one) => (penalty(one) < penalty(best) ? one : best));
}

/** Returns the dark modules as a path, in a box that is `size + 8` wide: the margin has four modules. */
export const outline = (grid) => grid.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
