/** The steps of a sequence: what comes first, what comes then. */
import { ActionIcon, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { newStep, type TriggerDraft } from '../../lib/trigger-draft.ts'
import { FilterRows } from './filter-rows.tsx'
import type { Part } from './part.ts'

const STEPS_MAX = 5

export function SequenceSteps({ draft, set, errors, known }: Part) {
  const put = (at: number, change: Partial<TriggerDraft['steps'][number]>) =>
    set(
      'steps',
      draft.steps.map((step, i) => (i === at ? { ...step, ...change } : step)),
    )
  return (
    <Stack gap="sm">
      {draft.steps.map((step, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place.
        <Paper key={i} withBorder p="sm" radius="md">
          <Stack gap="xs">
            <Group justify="space-between" wrap="nowrap" align="flex-end">
              <TextInput
                label={i === 0 ? 'First' : `Then, step ${i + 1}`}
                placeholder="A word for it, such as deploy"
                value={step.name}
                onChange={(event) => put(i, { name: event.currentTarget.value })}
                maxLength={80}
                style={{ flex: 1 }}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                mb={4}
                disabled={draft.steps.length <= 2}
                aria-label={`Remove step ${i + 1}`}
                onClick={() =>
                  set(
                    'steps',
                    draft.steps.filter((_step, at) => at !== i),
                  )
                }
              >
                <Trash2 size={15} aria-hidden />
              </ActionIcon>
            </Group>
            <FilterRows
              rows={step.filters}
              onChange={(filters) => put(i, { filters })}
              known={known.fields}
              of={`of step ${i + 1}`}
              errors={errors}
              path={`condition.sequence[${i}].filters`}
            />
            {errors[`condition.sequence[${i}].filters`] && (
              <Text size="xs" c="var(--mantine-color-error)" role="alert">
                {errors[`condition.sequence[${i}].filters`]}
              </Text>
            )}
          </Stack>
        </Paper>
      ))}
      {draft.steps.length < STEPS_MAX && (
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => set('steps', [...draft.steps, newStep()])}
          >
            Add a step
          </Button>
        </Group>
      )}
    </Stack>
  )
}
