/** The docs name everything there is, and nothing there is not. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../../api/cli/exit.ts'
import { EXAMPLES, EXIT_MEANINGS } from '../../api/cli/help.ts'
import { buildProgram } from '../../api/cli/program.ts'
import type { Io } from '../../api/cli/terminal.ts'
import { environment } from '../../api/environment.ts'
import { goneRenamed } from '../../api/guards.ts'
import { errorTable } from '../../engine/index.ts'
import { describeConnectors } from '../../engine/sources/connectors/index.ts'
import { namedPackages, projectFiles, textOf as rawTextOf, root } from './project-files.ts'

/** The text of a file, the cells of its tables without padding. */
const textOf = (file: string) =>
  file.endsWith('.md') ? rawTextOf(file).replace(/ +\|/g, ' |').replace(/\| +/g, '| ') : rawTextOf(file)
const docs = projectFiles().filter((file) => file.endsWith('.md'))
const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map((match) => match[1]!)
/** First cells of the rows of every table that are in backquotes. */
const firstCells = (text: string) => all(/^\| `([^`]+)`/gm, text)
const sorted = (values: Iterable<string>) => [...new Set(values)].sort()

describe('docs/configuration.md', () => {
  const text = textOf('docs/configuration.md')

  it('has a row for each variable with its default and meaning', () => {
    for (const { name, default: standard, meaning } of environment) {
      const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\``))
      expect(row, name).toBeDefined()
      expect(row).toContain(meaning)
      expect(row).toContain(standard ?? 'unset')
    }
  })

  it('has the flags of svc up', () => {
    for (const option of commandOf('up').options) expect(text).toContain(`\`${option.flags}\``)
  })
})

describe('every document', () => {
  it('names only variables that exist', () => {
    // Those of the plugin are read where a coding session runs, not by svc.
    const plugin = ['hooks/send-session.mjs', '.mcp.json'].flatMap((file) =>
      all(/\b(SVC_[A-Z_]+)/g, textOf(`plugins/coding-sessions/${file}`)),
    )
    const known = [...environment.map((variable) => variable.name), ...plugin]
    // A family of variables is written with its beginning alone: SVC_DEMO_*.
    const isKnown = (name: string) =>
      known.some((entry) => (name.endsWith('_') ? entry.startsWith(name) : name === entry)) ||
      name.startsWith('SVC_SECRET_') ||
      name === 'SVC_TEST_BROWSER' ||
      name === 'SVC_NODE' ||
      goneRenamed(name) !== null
    for (const file of docs) {
      const unknown = all(/\b((?:SVC|SVCD|PROVIDER[AB])_[A-Z][A-Z_]*)/g, textOf(file)).filter(
        (name) => !isKnown(name),
      )
      expect(unknown, file).toEqual([])
    }
  })

  it('links only to files that exist', () => {
    for (const file of docs) {
      const links = all(/\]\(([^)\s]+)\)/g, textOf(file)).filter((link) => !/^(https?:|#|mailto:)/.test(link))
      const broken = links.filter((link) => !existsSync(join(root, dirname(file), link.split('#')[0]!)))
      expect(broken, file).toEqual([])
    }
  })

  it('has no example that opens a variable which is refused', () => {
    const refused = docs.flatMap((file) =>
      all(/^ *```yaml\n([\s\S]*?)^ *```$/gm, rawTextOf(file))
        .flatMap((example) => all(/\$\{([A-Z][A-Z0-9_]*)\}/g, example))
        .filter((name) => !name.startsWith('SVC_SECRET_'))
        .map((name) => `${file}: ${name}`),
    )
    expect(refused).toEqual([])
  })

  it('names only scripts of npm run that exist', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    for (const file of docs)
      expect(
        all(/npm run ([a-z]+)/g, textOf(file)).filter((name) => !scripts[name]),
        file,
      ).toEqual([])
  })
})

describe('CHANGELOG.md', () => {
  it('has the release of package.json, each with its day, the newest first, and what is to come above them', () => {
    const headings = all(/^## (.+)$/gm, rawTextOf('CHANGELOG.md'))
    const { version } = JSON.parse(textOf('package.json')) as { version: string }
    const releases = headings.filter((heading) => heading !== 'Unreleased')
    expect(headings.indexOf('Unreleased')).toBeLessThan(1)
    expect(releases[0]).toMatch(new RegExp(`^${version.replaceAll('.', '\\.')} - `))
    for (const release of releases) expect(release).toMatch(/^\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$/)
    const days = releases.map((release) => release.split(' - ')[1]!)
    expect(days).toEqual([...days].sort().reverse())
  })

  it('leads to docs/upgrade.md, which says of both ways here what to do', () => {
    expect(rawTextOf('CHANGELOG.md')).toContain('(docs/upgrade.md)')
    expect(all(/^## (.+)$/gm, rawTextOf('docs/upgrade.md'))).toEqual(['From 0.x', 'From 1.x'])
  })
})

describe('docs/errors.md', () => {
  it('is the table of errors, status and fixer included', () => {
    const rows = textOf('docs/errors.md')
      .split('\n')
      .filter((line) => /^\| `/.test(line))
    expect(rows).toEqual(
      Object.entries(errorTable).map(
        ([code, entry]) => `| \`${code}\` | ${entry.status} | ${entry.fix} | ${entry.meaning} |`,
      ),
    )
  })
})

describe('docs/api.md', () => {
  const { paths } = JSON.parse(textOf('api/http/openapi.json')) as {
    paths: Record<string, Record<string, { description?: string }>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      call: `${method.toUpperCase()} ${path}`,
      scope: /Scope: ([\w-]+)/.exec(operation.description ?? '')?.[1],
    })),
  )
  const documented = routes.filter((route) => route.call !== 'GET /')

  it('has a row for each route, and for no other', () => {
    expect(sorted(firstCells(textOf('docs/api.md')).filter((cell) => /^[A-Z]+ \//.test(cell)))).toEqual(
      sorted(documented.map((route) => route.call)),
    )
  })

  it('gives each route the scope it has', () => {
    for (const { call, scope } of documented) {
      const row = textOf('docs/api.md')
        .split('\n')
        .find((line) => line.startsWith(`| \`${call}\` |`))
      expect(row?.split('|')[2]?.trim(), call).toBe(
        scope === 'signed-or-ingest' ? 'ingest, or the signature' : scope,
      )
    }
  })

  it('has every field of a read', () => {
    const { properties } = JSON.parse(textOf('schemas/requests/read.json')) as {
      properties: Record<string, unknown>
    }
    for (const field of Object.keys(properties))
      if (!['client', 'project'].includes(field)) expect(textOf('docs/api.md')).toContain(`\`${field}\``)
  })
})

describe('docs/connectors.md', () => {
  const text = textOf('docs/connectors.md')
  const sections = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split('\n')[0]!, section]),
  )

  it('has a section for each connector', () => {
    const kinds = Object.keys(describeConnectors())
    expect(sorted([...sections.keys()].filter((title) => /^[a-z_]+$/.test(title)))).toEqual(sorted(kinds))
  })

  it('has each field of each connector, its mode, and no other field', () => {
    for (const [kind, connector] of Object.entries(describeConnectors())) {
      const section = sections.get(kind)!
      const fields = connector.fields.map((field) => field.name).filter((name) => name !== 'labels')
      // Fields of the entries of a list have a table of their own.
      const inner = entryFields(connector.config_schema).filter((name) => !fields.includes(name))
      // How senders sign has a table, too, with a row for each.
      const schemes = schemesOf(connector.config_schema)
      for (const scheme of schemes) expect(section).toContain(`\n| \`${scheme}\` `)
      expect(section).toContain(`\n${connector.mode}. `)
      expect(sorted(firstCells(section).filter((cell) => ![...inner, ...schemes].includes(cell)))).toEqual(
        sorted(fields),
      )
    }
  })
})

function schemesOf({ properties }: Record<string, unknown>): string[] {
  return (properties as Record<string, { enum?: string[] }>).signature_scheme?.enum ?? []
}

function entryFields({ properties }: Record<string, unknown>): string[] {
  const lists = Object.values(properties as Record<string, { items?: { properties?: object } }>)
  return lists.flatMap(({ items }) => Object.keys(items?.properties ?? {}))
}

describe('docs/cli.md', () => {
  const text = textOf('docs/cli.md')
  const commands = leaves(program())

  it('has every exit code in one table, and the help says the same of each', () => {
    const rows = text.split('\n').filter((line) => /^\| \d+ \|/.test(line))
    expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(Object.values(EXIT))
    for (const code of Object.values(EXIT)) {
      const meaning = EXIT_MEANINGS[code]
      expect(EXAMPLES.replaceAll('\n', ' '), String(code)).toContain(`${code} ${meaning}`)
      const row = rows.find((line) => line.startsWith(`| ${code} |`))!
      expect(row.replaceAll('`', ''), String(code)).toContain(meaning.replace(/ \(.*$/, '').split(',')[0])
    }
  })

  it('names every command', () => {
    for (const { path } of commands) expect(text, path).toContain(path)
  })

  it('names every option of every command in its section', () => {
    for (const { path, command } of commands) {
      const section = text
        .split(/^## /m)
        .find((part) => part.startsWith(path.split(' ').slice(0, 2).join(' ')))
      for (const option of command.options)
        expect(`${section}\n${text.split('## svc')[0]}`, `${path} ${option.long}`).toContain(option.long!)
    }
  })

  it('names no option that does not exist', () => {
    const known = new Set([
      '--help',
      '--version',
      ...commands.flatMap(({ command }) => command.options.map((option) => option.long)),
    ])
    expect(sorted(all(/(?<![\w-])(--[a-z][a-z-]+)/g, text)).filter((option) => !known.has(option))).toEqual(
      [],
    )
  })
})

describe('ARCHITECTURE.md', () => {
  it('gives a reason for each package', () => {
    const text = textOf('ARCHITECTURE.md')
    const families = ['@mantine/', '@rjsf/', '@types/', '@opentelemetry/exporter-']
    const missing = namedPackages().filter(
      ({ name }) => !families.some((family) => name.startsWith(family)) && !text.includes(name),
    )
    expect(missing).toEqual([])
  })
})

function program(): Command {
  return buildProgram({ env: {}, colour: false } as unknown as Io)
}

function commandOf(name: string): Command {
  return program().commands.find((command) => command.name() === name)!
}

/** Commands that do something, with the words that call them. */
function leaves(command: Command, path = 'svc'): { path: string; command: Command }[] {
  const children = command.commands.filter((child) => child.name() !== 'help')
  return children.length
    ? children.flatMap((child) => leaves(child, `${path} ${child.name()}`))
    : [{ path, command }]
}
