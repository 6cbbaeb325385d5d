/**
 * The project as lists and forms: everything the canvas can do, with the keyboard alone. It is the
 * same editor with the same draft.
 */
import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { Search } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { byName, compareNames } from '../../../lib/by-name.ts'
import { KIND_WORDS } from '../../../lib/fields.ts'
import { edgeWords, PART_KINDS } from '../../draft/ids.ts'
import { ConnectForm } from './connect-form.tsx'
import type { ListProps } from './props.ts'
import { EdgeRow, NodeRow } from './rows.tsx'

const EDGE_KINDS = [
  { kind: 'feeds', title: 'Feeds', none: 'No trigger watches a source yet.' },
  { kind: 'wakes', title: 'Wakes', none: 'No trigger wakes an agent yet.' },
  { kind: 'hands_off', title: 'Handoffs', none: 'No agent takes over from another yet.' },
  { kind: 'uses', title: 'Tools', none: 'No agent works with an MCP server yet.' },
  { kind: 'tells', title: 'Destinations', none: '' },
] as const

/** Rows of a section before one asks for the rest: hundreds are found by the filter. */
const SECTION_MAX = 60

export function ListEditor(props: ListProps) {
  const [filter, setFilter] = useState('')
  const word = filter.trim().toLowerCase()
  const { drawn } = props.editor
  const nodes = byName(drawn.nodes).filter(({ kind, name, detail }) =>
    `${kind} ${name} ${detail}`.toLowerCase().includes(word),
  )
  const edges = drawn.edges
    .filter((edge) => edgeWords(edge).toLowerCase().includes(word))
    .toSorted((a, b) => compareNames(a.id, b.id))
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-end">
        <TextInput
          label="Filter"
          placeholder="Part or connection"
          leftSection={<Search size={14} aria-hidden />}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
          w={280}
        />
        <Text size="sm" c="dimmed" role="status">
          {nodes.length} of {drawn.nodes.length} parts, {edges.length} of {drawn.edges.length} connections
        </Text>
      </Group>
      {PART_KINDS.map((kind) => (
        <Section
          key={kind}
          title={KIND_WORDS[kind]!.many}
          rows={nodes.filter((node) => node.kind === kind)}
          none={word ? '' : `No ${KIND_WORDS[kind]!.one} is in this project.`}
        >
          {(node) => <NodeRow key={node.id} {...props} node={node} />}
        </Section>
      ))}
      <Section title="Subscribers" rows={nodes.filter((node) => node.kind === 'destination')} none="">
        {(node) => <NodeRow key={node.id} {...props} node={node} />}
      </Section>
      {props.isEditing && <ConnectForm {...props} />}
      {EDGE_KINDS.map(({ kind, title, none }) => (
        <Section
          key={kind}
          title={title}
          rows={edges.filter((edge) => edge.kind === kind)}
          none={word ? '' : none}
        >
          {(edge) => <EdgeRow key={edge.id} {...props} edge={edge} />}
        </Section>
      ))}
    </Stack>
  )
}

function Section<T>({
  title,
  rows,
  none,
  children,
}: {
  title: string
  rows: readonly T[]
  none: string
  children: (row: T) => ReactNode
}) {
  const [all, setAll] = useState(false)
  if (rows.length === 0 && none === '') return null
  return (
    <Paper withBorder radius="md" p="sm" component="section" aria-label={title}>
      <Group justify="space-between" mb={4}>
        <Title order={2} size="sm">
          {title}
        </Title>
        {rows.length > 0 && (
          <Text size="xs" c="dimmed">
            {rows.length}
          </Text>
        )}
      </Group>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      ) : (
        <ul className="editor-rows">{(all ? rows : rows.slice(0, SECTION_MAX)).map(children)}</ul>
      )}
      {!all && rows.length > SECTION_MAX && (
        <Button size="compact-sm" variant="subtle" onClick={() => setAll(true)}>
          Show {rows.length - SECTION_MAX} more
        </Button>
      )}
    </Paper>
  )
}
