/**
 * Runs one operation in a process of its own and looks at what it leaves when it is killed right
 * before each of its statements. Real kills take a third of a second each; images of the files,
 * taken before each statement, show the same (the kernel keeps what a process wrote), so tests look
 * at an image of every instant and kill at some, and `npm run chaos -- declared` kills at each.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { daemonOptions } from '../../scripts/build.mjs'
import { SHORT_LIVED } from '../short-lived.ts'
import type { Run } from './declared-child.ts'
import { digestFile } from './declared-state.ts'

const BUNDLE = fileURLToPath(new URL('../../dist/chaos-declared/declared-child.mjs', import.meta.url))
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The one the operations use, and one to seed from. */
const TEMPLATES = [
  join(ROOT, 'catalog/templates/webhook_watch.yaml'),
  fileURLToPath(new URL('./seeded_watch.yaml', import.meta.url)),
]
const OF_THE_FILE = [
  'svc.db',
  'svc.db-wal',
  'svc.db-shm',
  'svc.db.lock',
  'svc.db.incarnation',
  'svc.db.witness',
]
/** A machine of two cores; more children would only wait for each other. */
const AT_ONCE = 2

/** Builds the program that is killed, as the daemon is built; only the templates it uses come along, which starts sooner. */
export async function buildChild(): Promise<void> {
  const beside = dirname(BUNDLE)
  rmSync(beside, { recursive: true, force: true })
  const entryPoints = { 'declared-child': fileURLToPath(new URL('./declared-child.ts', import.meta.url)) }
  await build({ ...daemonOptions(relative(ROOT, beside)), entryPoints })
  cpSync(join(ROOT, 'engine/log/store/migrations'), join(beside, 'migrations'), { recursive: true })
  const templates = join(beside, 'catalog/templates')
  mkdirSync(templates, { recursive: true })
  for (const file of TEMPLATES) cpSync(file, join(templates, basename(file)))
  cpSync(join(ROOT, 'catalog/presets.json'), join(beside, 'catalog/presets.json'))
}

export interface Killing {
  /** Folder with the data before, closed cleanly. */
  base: string
  /** Folder to work in, best in memory. */
  scratch: string
  operation: string
  /** What is compared, of a data file that may need recovery. */
  look(file: string): string
  splitAt?: number
}

/** What the file holds before each statement of a run that is not killed, and at its end. */
export async function lookAtEach(killing: Killing): Promise<string[]> {
  const { base, scratch, operation, splitAt } = killing
  const images = join(scratch, 'images')
  const folder = copyOf(base, join(scratch, 'whole'))
  const printed = await runChild({
    file: join(folder, 'svc.db'),
    operation,
    images,
    ...(splitAt ? { splitAt } : {}),
  })
  // Most statements write nothing to a file before their commit: what was looked at once is not again.
  const looked = new Map<string, string>()
  const seen: string[] = []
  for (let n = 1; n <= Number(printed) + 1; n++) {
    const kept = join(images, String(n))
    const bytes = digestFile(join(kept, 'svc.db'))
    if (!looked.has(bytes)) looked.set(bytes, lookAtImage(killing, folder, kept))
    seen.push(looked.get(bytes)!)
  }
  rmSync(folder, { recursive: true })
  rmSync(images, { recursive: true })
  return seen
}

/** @param folder of the whole run: the key of the secrets, and whatever else is beside the data file, is its. */
function lookAtImage({ scratch, look }: Killing, folder: string, kept: string): string {
  const image = copyOf(folder, join(scratch, 'image'))
  for (const name of OF_THE_FILE) rmSync(join(image, name), { force: true })
  if (existsSync(kept)) cpSync(kept, image, { recursive: true })
  const seen = look(join(image, 'svc.db'))
  rmSync(image, { recursive: true })
  return seen
}

/** What a kill right before each of these statements leaves, in their order. */
export async function killAt(killing: Killing, statements: readonly number[]): Promise<string[]> {
  const { base, scratch, operation, look, splitAt } = killing
  const seen: string[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < statements.length) {
      const i = next++
      const folder = copyOf(base, join(scratch, `kill-${i}`))
      const split = splitAt ? { splitAt } : {}
      await runChild({ file: join(folder, 'svc.db'), operation, killAt: statements[i]!, ...split })
      seen[i] = look(join(folder, 'svc.db'))
      rmSync(folder, { recursive: true })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return seen
}

function copyOf(base: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  cpSync(base, folder, { recursive: true })
  return folder
}

/** @returns what it printed before it was gone. @throws Error with its message when it failed instead. */
async function runChild(run: Run): Promise<string> {
  const child = spawn(process.execPath, [...SHORT_LIVED, BUNDLE, JSON.stringify(run)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(dirname(BUNDLE), '.compiled') },
  })
  const [printed, failed, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null, string | null]>,
  ])
  if (signal !== 'SIGKILL') throw new Error(`${run.operation} ended with ${code}: ${failed}`)
  return printed
}
