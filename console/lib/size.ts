/** Bytes as people read them. */
export function bytesText(bytes: number): string {
  return bytes < 1_024 ? `${bytes} B` : `${(bytes / 1_024).toFixed(1)} KB`
}

/** Bytes of a text in UTF-8, as the daemon counts them. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length
