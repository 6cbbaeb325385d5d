/** Tools the agents can use: MCP servers. One that is here is on, a new one is off until it is turned on. */
import { Switch, Text, TextInput } from '@mantine/core'
import type { PlanTool } from '../../../../schemas/types.ts'
import { withRow } from '../../../lib/plan-edit.ts'
import type { EditedPlan } from '../use-plan.ts'
import { Card, Entry, withoutRow } from './card.tsx'

export function ToolsCard({ plan, problems, edit }: EditedPlan) {
  if (plan.tools.length === 0) return null
  const put = (tool: PlanTool) => edit((now) => ({ ...now, tools: withRow(now.tools, tool) }))
  return (
    <Card title="Tools the agents can use" section="tools" problems={problems}>
      {plan.tools.map((tool) => (
        <Entry
          key={tool.key}
          name={tool.name}
          where={`tools.${tool.key}`}
          problems={problems}
          badge={tool.existing ? 'here already' : tool.can_act ? 'can act' : 'new'}
          sentence={tool.why}
          onRemove={() => edit((now) => ({ ...now, tools: withoutRow(now.tools, tool.key) }))}
          control={
            <Switch
              checked={tool.enabled}
              onChange={(event) => put({ ...tool, enabled: event.currentTarget.checked })}
              aria-label={`Use ${tool.name}`}
            />
          }
        >
          {!tool.existing && (
            <TextInput
              mt="xs"
              label="Address"
              description="Enter the credential after creating it."
              placeholder="https://"
              value={tool.url}
              onChange={(event) => put({ ...tool, url: event.currentTarget.value })}
              maxLength={2_000}
            />
          )}
          {tool.can_act && tool.enabled && (
            <Text size="xs" c="dimmed" mt={4}>
              Agents use read-only tools until you allow more on the agent’s page.
            </Text>
          )}
        </Entry>
      ))}
    </Card>
  )
}
