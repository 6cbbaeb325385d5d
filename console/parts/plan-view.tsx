/** What a change-set does, by object: made, changed with its fields, deleted. */
import { Badge, Button, Group, List, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { wordedFields } from '../../schemas/field-words.ts'
import type { ChangePlan, PlannedChange } from '../../schemas/types.ts'
import { fieldLines } from '../lib/field-lines.ts'
import { KIND_WORDS } from '../lib/fields.ts'
import { count } from '../lib/time.ts'
import { Warnings } from './warnings.tsx'

const LISTED = 10

const ACTIONS = {
  create: { word: 'create', color: 'teal' },
  update: { word: 'update', color: 'indigo' },
  delete: { word: 'delete', color: 'red' },
  none: { word: 'no change', color: 'gray' },
} as const

/** The plan; what stays as it is is only counted. */
export function PlanView({ plan }: { plan: ChangePlan }) {
  const changes = plan.changes.filter(({ action }) => action !== 'none')
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {changes.length === 0 && !plan.ownership
          ? 'Nothing would change.'
          : `${plan.creates} to create, ${plan.updates} to change, ${plan.deletes} to delete.`}{' '}
        {plan.unchanged > 0 &&
          `${count(plan.unchanged)} ${plan.unchanged === 1 ? 'stays as it is' : 'stay as they are'}.`}
      </Text>
      {plan.ownership?.map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
      <Listed changes={changes} />
      <Warnings of={plan.warnings} />
    </Stack>
  )
}

/** Many are folded: what follows them, such as the button of a dialog, stays in sight. */
function Listed({ changes }: { changes: readonly PlannedChange[] }) {
  const [isWhole, setWhole] = useState(false)
  const left = changes.length - LISTED
  const isCut = !isWhole && left > 1
  return (
    <>
      <ChangedObjects changes={isCut ? changes.slice(0, LISTED) : changes} />
      {isCut && (
        <Group>
          <Button size="compact-xs" variant="default" onClick={() => setWhole(true)}>
            Show {count(left)} more
          </Button>
        </Group>
      )}
    </>
  )
}

const linesOf = ({ kind, fields }: PlannedChange): string[] =>
  wordedFields(kind, fields).flatMap((field) => field.sentence ?? fieldLines(field, kind))

export function ChangedObjects({ changes }: { changes: readonly PlannedChange[] }) {
  return (
    <Stack gap={6}>
      {changes.map((change) => (
        <Paper key={`${change.kind}:${change.key}`} withBorder p="xs" radius="md">
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Badge
              color={ACTIONS[change.action].color}
              c="var(--mantine-color-text)"
              variant="light"
              tt="none"
              style={{ flexShrink: 0 }}
            >
              {ACTIONS[change.action].word}
            </Badge>
            <div style={{ minWidth: 0, flex: 1 }}>
              <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                {KIND_WORDS[change.kind]?.one} {change.name}
                {change.renamed_from !== undefined && ` (renamed from ${change.renamed_from})`}
              </Text>
              {change.action === 'update' && (
                <List size="xs" spacing={2}>
                  {linesOf(change).map((line) => (
                    <List.Item key={line} style={{ overflowWrap: 'anywhere' }}>
                      {line}
                    </List.Item>
                  ))}
                </List>
              )}
              {change.variables?.map(({ field, variable, host }) => (
                <Text key={field} size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {`\${${variable}} is read for ${field}${host === null ? '' : ` and sent to ${host}`}`}
                </Text>
              ))}
            </div>
          </Group>
        </Paper>
      ))}
    </Stack>
  )
}
