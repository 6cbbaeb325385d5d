/** Runs in the page: relative luminance of a colour, 0 to 1, as contrast goes by it (WCAG 2.2). @param rgb three numbers, 0 to 255 */
export const LUMINANCE = `(rgb) => {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}`
