/**
 * Buffers for bodies, used again once the writer has stored what was in them: memory that is fresh
 * for every body must be cleared by the kernel and collected by V8, a tenth of what preparing costs.
 */

const KEPT_MAX = 8
/** Larger bodies are rare, and their memory is worth more than their time. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024
/** Sizes are rounded up to this, so that bodies of about one size share buffers. */
const STEP_BYTES = 256 * 1024

export class BufferPool {
  private readonly kept: ArrayBuffer[] = []

  /** Bytes without a defined content; may be a part of a larger buffer, from its start on. */
  take(size: number): Buffer {
    const at = this.kept.findIndex((buffer) => buffer.byteLength >= size)
    if (at >= 0) return Buffer.from(this.kept.splice(at, 1)[0]!, 0, size)
    if (size > KEPT_BYTES_MAX) return Buffer.allocUnsafeSlow(size)
    return Buffer.allocUnsafeSlow(Math.ceil(size / STEP_BYTES) * STEP_BYTES).subarray(0, size)
  }

  /** Takes back what nobody looks at any more. */
  give(buffer: ArrayBuffer): void {
    // The oldest goes, so that a size that is no longer asked for does not stay.
    if (this.kept.length === KEPT_MAX) this.kept.shift()
    this.kept.push(buffer)
  }

  /** Whether a buffer is worth giving back. */
  static isKept(buffer: ArrayBufferLike): buffer is ArrayBuffer {
    return buffer.byteLength >= STEP_BYTES && buffer.byteLength <= KEPT_BYTES_MAX
  }
}
