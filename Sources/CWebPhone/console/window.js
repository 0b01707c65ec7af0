// The rows of a long list that are on screen. Pure.

/** Returns the range of rows of equal height to draw: the rows on screen, and half a screen before and after them. */
export function visible(count, height, top, size) {
  if (!(height > 0) || !(size > 0)) return [0, 0];
  const first = Math.max(0, Math.floor((top - size / 2) / height));
  return [Math.min(first, count), Math.min(count, Math.ceil((top + 1.5 * size) / height))];
}

/** Returns the scroll position that shows a row, as little different from the present one as possible. */
export function reveal(index, height, top, size) {
  if (index * height < top) return index * height;
  return (index + 1) * height > top + size ? (index + 1) * height - size : top;
}

/** Returns the difference between the position in the rows and the scroll position: 0, unless the rows are higher than their area. */
export function shift(full, area, top, size) {
  return full > area && area > size ? (full - area) * Math.min(1, Math.max(0, top / (area - size))) : 0;
}

/** Returns the scroll position for a position in the rows. */
export const scrolled = (position, full, area, size) => (full > area && area > size ? position * (area - size) / (full - size) : position);
