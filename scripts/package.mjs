/**
 * `npm run package [-- --scope @acme --out FOLDER]`: the command as a package of its own, for a CI that has Node and
 * no image: `npm install -g ./acme-svc-1.45.0.tgz`. It has all of `svc` but the daemon, and needs no
 * registry: better-sqlite3 is in it, with its binaries. Nothing is published by this: the scope is that of whoever does.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { daemonOptions, finishDaemon } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { main, root, runNpm, ScriptError, say } from './run.mjs'

/** Names nobody: whoever publishes it gives their own. */
const SCOPE = '@example'
/** What has binaries lies in the package as it is, without its sources; all else is one bundle. */
const WHOLE = 'better-sqlite3'
/** Where it is put together, under dist. */
const STAGE = 'dist/package'

/**
 * In place of `svc up`, which needs the console, the engine's threads and their packages.
 * @type {import('esbuild').Plugin}
 */
const withoutDaemon = {
  name: 'without the daemon',
  setup(build) {
    build.onLoad({ filter: /[\\/]api[\\/]cli[\\/]commands[\\/]up\.ts$/ }, () => ({
      contents: `import { CliError } from '../exit.ts'
export const up = async () => {
  throw new CliError('this package is the command without the daemon; run that from its image or its repository')
}`,
      resolveDir: join(root, 'api/cli/commands'),
      loader: 'ts',
    }))
  },
}

/**
 * Builds the package.
 * @param {{ scope?: string, out?: string }} [options] the folder the file is written to; the one it runs in
 * @returns {Promise<{ file: string, bytes: number }>}
 */
export async function packCommand({ scope = SCOPE, out = process.cwd() } = {}) {
  if (!/^@[a-z0-9][a-z0-9._-]*$/.test(scope))
    throw new ScriptError(`--scope must be @ and a name in small letters, not ${scope}`)
  const { build } = await import('esbuild')
  const stage = join(root, STAGE)
  rmSync(stage, { recursive: true, force: true })
  const outdir = `${STAGE}/dist`
  const options = daemonOptions(outdir)
  const { metafile } = await build({
    ...options,
    entryPoints: { svc: 'api/cli/svc.ts' },
    external: [WHOLE],
    plugins: [...(options.plugins ?? []), withoutDaemon],
    sourcemap: false,
    minifySyntax: true,
    minifyWhitespace: true,
  })
  finishDaemon(outdir, Object.keys(metafile.outputs))
  for (const file of [
    ...['svc.mjs', 'node.mjs', 'runtime.mjs', 'node-releases.json', 'program-keeper.mjs'].map(
      (name) => `bin/${name}`,
    ),
    'LICENSE',
  ])
    cpSync(join(root, file), join(stage, file))
  const { version, description, license, engines, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  writeFileSync(
    join(stage, 'package.json'),
    `${JSON.stringify(
      {
        ...{ name: `${scope}/svc`, version, description: `${description} The command, without the daemon.` },
        ...{ license, type: 'module', engines, bin: { svc: 'bin/svc.mjs' }, files: ['bin', 'dist'] },
        dependencies: { [WHOLE]: dependencies[WHOLE] },
        bundleDependencies: [WHOLE],
      },
      null,
      2,
    )}\n`,
  )
  writeFileSync(join(stage, 'README.md'), README)
  addWhole(stage)
  const folder = resolve(out)
  mkdirSync(folder, { recursive: true })
  const { code, output } = await runNpm(
    ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder],
    { cwd: stage },
  )
  if (code !== 0) throw new ScriptError(`npm pack failed:\n${output}`)
  const file = join(folder, `${scope.slice(1)}-svc-${version}.tgz`)
  return { file, bytes: statSync(file).size }
}

/** @param {string} stage */
function addWhole(stage) {
  const from = join(root, 'node_modules', WHOLE)
  const to = join(stage, 'node_modules', WHOLE)
  for (const part of ['lib', 'prebuilds', 'LICENSE'])
    cpSync(join(from, part), join(to, part), { recursive: true })
  // What it depends on is for compiling it.
  const {
    dependencies: _,
    devDependencies: _tests,
    scripts: _steps,
    ...manifest
  } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

const README = `# svc, the command

\`svc catalog check\`, \`fmt\`, \`lint\`, \`test\` and \`plan --base\` need no daemon; all else asks one: SVCD_URL and
SVC_AUTH_TOKEN name it. \`svc catalog init\` writes a repository to begin with. Node 22.15 or newer; under an older one it fetches Node 24 once, into its own folder.
`

if (process.argv[1] && resolve(process.argv[1]) === join(root, 'scripts', 'package.mjs'))
  await main(async () => {
    const { values } = parseArgs({ options: { scope: { type: 'string' }, out: { type: 'string' } } })
    await ensureInstalled({ tests: true })
    const { file, bytes } = await packCommand(values)
    say(`wrote ${file} (${(bytes / 1e6).toFixed(1)} MB)`)
  })
