/** Issue 16, B3: clients made of the API document are sound, and do their work against a running server. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import { build } from 'esbuild'
import openapiTs, { astToString } from 'openapi-typescript'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ROOT, startInstance } from '../../../contract/instance.ts'
import { heyApiWalk, openapiFetchWalk } from './walks.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const DOCUMENT = join(root, 'api/http/openapi.json')
const STRICT = {
  compilerOptions: {
    target: 'es2023',
    module: 'preserve',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
}

/** A folder of a project that has our packages; it ends with the test. */
async function project(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-client-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(STRICT))
  return folder
}

/** Checks the types of the folder, and runs the walk in it. */
async function walk(folder: string, text: string): Promise<unknown> {
  await writeFile(join(folder, 'walk.ts'), text)
  const tsc = join(root, 'node_modules/typescript-native/bin/tsc')
  const checked = await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  )
  expect(checked.stdout).toBe('')
  const outfile = join(folder, 'walk.mjs')
  await build({
    entryPoints: [join(folder, 'walk.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
  })
  const made = (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as {
    walk(url: string, token: string): Promise<unknown>
  }
  const server = await startInstance({ secured: true })
  onTestFinished(() => server.stop())
  return made.walk(server.url, ROOT)
}

const WALKED = {
  made: 'gateway',
  trigger: expect.any(Number),
  ingested: 2,
  texts: ['gateway'],
  keys: ['A-1001', 'A-1002'],
  sources: ['gateway'],
}

describe('B3: a generated client makes a source and a trigger, ingests, reads, and lists firings and sources', () => {
  it('by openapi-typescript with openapi-fetch', async () => {
    const folder = await project()
    const made = await openapiTs(pathToFileURL(DOCUMENT), { defaultNonNullable: false })
    await writeFile(join(folder, 'api.ts'), astToString(made))
    expect(await walk(folder, openapiFetchWalk)).toEqual(WALKED)
  })

  it('by @hey-api/openapi-ts', async () => {
    const folder = await project()
    await mkdir(join(folder, 'client'))
    await createClient({ input: DOCUMENT, output: join(folder, 'client'), logs: { level: 'silent' } })
    expect(await walk(folder, heyApiWalk)).toEqual(WALKED)
  })
})
