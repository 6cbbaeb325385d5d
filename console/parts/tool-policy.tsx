/** What an agent may call of external tools: lines of server, tool, and patterns for arguments. */
import { ActionIcon, Autocomplete, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import type { McpTool, ToolPolicy } from '../../schemas/types.ts'
import { declared, dkeys } from '../declared-client.ts'

interface Props {
  value: readonly ToolPolicy[]
  onChange: (value: ToolPolicy[]) => void
  /** The agent's MCP servers. */
  servers: readonly string[]
}

const LINES_MAX = 100
const ARGUMENTS_MAX = 20

export function ToolPolicyEditor({ value, onChange, servers }: Props) {
  const tools = useToolsOf(servers)
  const put = (at: number, line: ToolPolicy) => onChange(value.map((row, i) => (i === at ? line : row)))
  return (
    <Stack gap="xs" component="fieldset" p={0} m={0} bd="none">
      <Text fw={600} size="sm" component="legend">
        Tools it may call
      </Text>
      <Text size="xs" c="dimmed">
        Without a line for a server, its tools that only read. A tool that may write is called only where a
        line names it; * is every tool that only reads.
      </Text>
      {value.map((row, i) => (
        <Line
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
          key={i}
          line={row}
          at={i + 1}
          servers={servers}
          tools={tools.get(row.server) ?? []}
          onChange={(line) => put(i, line)}
          onRemove={() => onChange(value.filter((_row, at) => at !== i))}
        />
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...value, { server: servers[0] ?? '', tool: '' }])}
          disabled={servers.length === 0 || value.length >= LINES_MAX}
        >
          Allow a tool
        </Button>
      </Group>
    </Stack>
  )
}

/** Tools each server is known to have. */
function useToolsOf(servers: readonly string[]): Map<string, McpTool[]> {
  const answers = useQueries({
    queries: servers.map((server) => ({
      queryKey: dkeys.mcpTools(server),
      queryFn: () => declared.mcpTools(server),
    })),
  })
  return new Map(servers.map((server, i) => [server, answers[i]?.data ?? []]))
}

interface LineProps {
  line: ToolPolicy
  /** From 1. */
  at: number
  servers: readonly string[]
  tools: readonly McpTool[]
  onChange: (line: ToolPolicy) => void
  onRemove: () => void
}

function Line({ line, at, servers, tools, onChange, onRemove }: LineProps) {
  const limits = Object.entries(line.arguments ?? {})
  const known = tools.find(({ name }) => name === line.tool)
  const limit = (entries: [string, string][]) => {
    const { arguments: _arguments, ...rest } = line
    onChange(entries.length ? { ...rest, arguments: Object.fromEntries(entries) } : rest)
  }
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Select
          aria-label={`Server of line ${at}`}
          data={[...new Set([...servers, line.server])].filter(Boolean)}
          value={line.server || null}
          onChange={(server) => onChange({ ...line, server: server ?? '' })}
          error={line.server && !servers.includes(line.server) ? 'Not among its servers' : undefined}
          allowDeselect={false}
          w={180}
        />
        <Autocomplete
          aria-label={`Tool of line ${at}`}
          placeholder="* or the tool’s name"
          data={['*', ...tools.map(({ name }) => name)]}
          value={line.tool}
          onChange={(tool) => onChange({ ...line, tool })}
          description={known && (known.read_only ? 'Only reads' : 'May write')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          maxLength={128}
          style={{ flex: 1 }}
        />
        <Button
          size="xs"
          variant="subtle"
          mt={3}
          aria-label={`Limit an argument of line ${at}`}
          onClick={() => limit([...limits, [freeName(line, known), '']])}
          disabled={limits.length >= ARGUMENTS_MAX}
        >
          Limit
        </Button>
        <ActionIcon variant="subtle" color="red" mt={4} aria-label={`Remove line ${at}`} onClick={onRemove}>
          <Trash2 size={15} aria-hidden />
        </ActionIcon>
      </Group>
      {limits.map(([name, pattern], i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name is what is edited.
        <Group key={i} gap="xs" wrap="nowrap" pl="xl">
          <TextInput
            aria-label={`Argument ${i + 1} of line ${at}`}
            value={name}
            onChange={(event) => {
              const renamed = event.currentTarget.value
              if (limits.some(([other], to) => to !== i && other === renamed)) return
              limit(limits.map((entry, to) => (to === i ? [renamed, pattern] : entry)))
            }}
            w={180}
          />
          <TextInput
            aria-label={`Pattern of argument ${i + 1} of line ${at}`}
            placeholder="SHOP-\d+ : a pattern it must match as a whole"
            ff="monospace"
            value={pattern}
            onChange={(event) => {
              const changed = event.currentTarget.value
              limit(limits.map((entry, to) => (to === i ? [name, changed] : entry)))
            }}
            style={{ flex: 1 }}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove argument ${i + 1} of line ${at}`}
            onClick={() => limit(limits.filter((_entry, to) => to !== i))}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
    </Stack>
  )
}

/** An argument of the tool that has no limit yet. */
function freeName({ arguments: limited = {} }: ToolPolicy, known: McpTool | undefined): string {
  const properties = Object.keys((known?.input as { properties?: object } | undefined)?.properties ?? {})
  const free = properties.find((name) => !Object.hasOwn(limited, name))
  if (free !== undefined) return free
  for (let n = 1; ; n++) if (!Object.hasOwn(limited, `argument${n}`)) return `argument${n}`
}
