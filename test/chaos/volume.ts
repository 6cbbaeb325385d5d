/** A small volume of its own for a daemon, and what takes all of its room. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Volume {
  folder: string
  /** Takes all the room that is left; the file system itself says when. */
  fill(): void
  /** Gives that room back. */
  free(): void
  remove(): void
}

/** @returns a volume of so many MiB in memory, or a sentence why none can be mounted here */
export function mountVolume(megabytes: number): Volume | string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-volume-'))
  const { status, stderr, error } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder],
    { encoding: 'utf8' },
  )
  if (status !== 0) {
    rmSync(folder, { recursive: true })
    return `no volume can be mounted here: ${error?.message ?? stderr.trim()}`
  }
  const filler = join(folder, 'filler')
  return {
    folder,
    fill: () => {
      const file = openSync(filler, 'a')
      // Large pieces, then small ones for the last of it.
      for (const size of [1 << 20, 1 << 12, 1]) writeUntilFull(file, Buffer.alloc(size, 1))
      closeSync(file)
    },
    free: () => rmSync(filler, { force: true }),
    remove: () => {
      spawnSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function writeUntilFull(file: number, piece: Uint8Array): void {
  try {
    for (;;) if (writeSync(file, piece) < piece.length) return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
