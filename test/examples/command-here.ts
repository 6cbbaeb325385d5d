/**
 * `svc` as scripts find it, run in the process of the test: a start of the command is 0.4 s of the processor, a script that
 * asks this in its place 0.02 (2026-11-30). For scripts that are tested; what npm installs is run as it is by others.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { svc } from '../api/cli/cli-harness.ts'

export interface CommandHere {
  /** Holds `svc`; for PATH. */
  folder: string
  close(): Promise<void>
}

/** @param folder to make */
export async function commandHere(folder: string): Promise<CommandHere> {
  let last: Promise<void> = Promise.resolve()
  const server: Server = createServer((socket) => {
    // One after the other: the folder a command runs in is that of the whole process.
    createInterface({ input: socket }).once('line', (asked) => {
      last = last.then(async () => void socket.end(`${await answer(asked)}\n`))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  mkdirSync(folder)
  const program = join(folder, 'svc')
  writeFileSync(program, scriptFor((server.address() as AddressInfo).port))
  chmodSync(program, 0o755)
  return { folder, close: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** @param asked folder with the command line and its environment. @returns the exit code; what was said lies there */
async function answer(asked: string): Promise<number> {
  const listed = (name: string) => readFileSync(join(asked, name), 'utf8').split('\0').slice(0, -1)
  const [cwd, ...args] = listed('args')
  const env = Object.fromEntries(listed('env').map((line) => line.split(/=(.*)/s, 2) as [string, string]))
  const before = process.cwd()
  process.chdir(cwd!)
  try {
    const { code, out, err } = await svc(args, { env })
    writeFileSync(join(asked, 'out'), out)
    writeFileSync(join(asked, 'err'), err)
    return code
  } catch (error) {
    writeFileSync(join(asked, 'out'), '')
    writeFileSync(join(asked, 'err'), String((error as Error).stack))
    return 70
  } finally {
    process.chdir(before)
  }
}

const scriptFor = (port: number): string => `#!/bin/bash
asked=$(mktemp -d)
trap 'rm -rf "$asked"' EXIT
env -0 > "$asked/env"
printf '%s\\0' "$PWD" "$@" > "$asked/args"
exec 3<>/dev/tcp/127.0.0.1/${port}
echo "$asked" >&3
read -r code <&3
cat "$asked/out"
cat "$asked/err" >&2
exit "$code"
`
