/** The connectors to choose from: searched, in groups, those of every day first. */
import { Group, Paper, SimpleGrid, Stack, Text, TextInput, Title, UnstyledButton } from '@mantine/core'
import {
  Bell,
  BellRing,
  BookOpen,
  Container,
  Database,
  Gauge,
  GitBranch,
  Globe,
  type LucideIcon,
  NotebookPen,
  Plug,
  RadioTower,
  ScrollText,
  SquareTerminal,
  Triangle,
  Webhook,
} from 'lucide-react'
import { useState } from 'react'
import type { Connector } from '../../../schemas/types.ts'

const ICONS: Readonly<Record<string, LucideIcon>> = {
  webhook: Webhook,
  otlp: RadioTower,
  alertmanager: Bell,
  vercel: Triangle,
  http_poll: Globe,
  prometheus: Gauge,
  prometheus_alerts: BellRing,
  github: GitBranch,
  github_app: GitBranch,
  postgres: Database,
  loki: ScrollText,
  docker_logs: Container,
  claude_code: SquareTerminal,
  memory: NotebookPen,
  reference: BookOpen,
}

const GROUPS = [
  { title: 'Push', help: 'Producers send events to svc' },
  { title: 'Poll', help: 'Asked at each interval' },
  { title: 'Files', help: 'Logs and sessions' },
  { title: 'Memory and reference', help: 'Background knowledge' },
] as const
type GroupTitle = (typeof GROUPS)[number]['title']

/** What reads files, and what is no stream of events. */
const OWN_GROUP: Readonly<Record<string, GroupTitle>> = {
  docker_logs: 'Files',
  claude_code: 'Files',
  memory: 'Memory and reference',
  reference: 'Memory and reference',
}

const groupOf = (kind: string, { mode }: Connector): GroupTitle =>
  OWN_GROUP[kind] ?? (mode === 'poll' ? 'Poll' : mode === 'push' ? 'Push' : 'Memory and reference')

interface Props {
  connectors: Record<string, Connector>
  onChoose: (kind: string) => void
}

export function ConnectorChoice({ connectors, onChoose }: Props) {
  const [filter, setFilter] = useState('')
  const shown = Object.entries(connectors).filter(
    ([kind, c]) =>
      !c.internal &&
      `${kind} ${c.label} ${c.description}`.toLowerCase().includes(filter.trim().toLowerCase()),
  )
  const inGroups = GROUPS.map((group) => ({
    ...group,
    of: shown.filter(([kind, connector]) => groupOf(kind, connector) === group.title),
  })).filter(({ of }) => of.length > 0)
  const first = inGroups[0]?.of[0]?.[0]
  return (
    <Stack component="section" aria-label="Choose a connector">
      <Title order={2} size="h4">
        Or choose a connector
      </Title>
      <TextInput
        aria-label="Search connectors"
        placeholder="Search connectors"
        description={filter.trim() && first ? `Enter chooses ${connectors[first]!.label}` : undefined}
        inputWrapperOrder={['input', 'description']}
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && filter.trim() && first) onChoose(first)
        }}
        maw={340}
      />
      {inGroups.length === 0 && <Text size="sm">No connectors match</Text>}
      {inGroups.map(({ title, help, of }) => (
        <section key={title} aria-label={title}>
          <Group gap={8} mb={6} align="baseline">
            <Title order={3} size="h5">
              {title}
            </Title>
            <Text size="xs" c="dimmed">
              {help}
            </Text>
          </Group>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
            {of.map(([kind, connector]) => (
              <Choice key={kind} kind={kind} connector={connector} onChoose={onChoose} />
            ))}
          </SimpleGrid>
        </section>
      ))}
    </Stack>
  )
}

function Choice({
  kind,
  connector,
  onChoose,
}: { kind: string; connector: Connector } & Pick<Props, 'onChoose'>) {
  const Icon = ICONS[kind] ?? Plug
  return (
    <UnstyledButton onClick={() => onChoose(kind)}>
      <Paper withBorder p="sm" radius="md" h="100%">
        <Group gap={8} mb={4} wrap="nowrap">
          <Icon size={16} strokeWidth={1.7} aria-hidden />
          <Text fw={600}>{connector.label}</Text>
        </Group>
        <Text size="sm" c="dimmed" lineClamp={3}>
          {connector.description}
        </Text>
      </Paper>
    </UnstyledButton>
  )
}
