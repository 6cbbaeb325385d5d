/** Which model of a provider is used where none is named: what holds now, why, and a field to choose another. */
import { Autocomplete, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ModelProvider } from '../../../schemas/types.ts'
import { defaultModelWords } from '../../lib/model-settings.ts'
import { useChange } from '../../lib/use-change.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { settings } from '../../settings-client.ts'

export function DefaultModel({ provider }: { provider: ModelProvider }) {
  const { id, name, default_model, default_model_source, models } = provider
  const stored = default_model_source === 'console' ? (default_model ?? '') : ''
  const [model, setModel] = useState(stored)
  const save = useChange((chosen: string) => settings.saveProvider(id, { default_model: chosen }), {
    said: () => `The default model of ${name} is saved`,
    quiet: true,
  })
  return (
    <Stack gap={4}>
      <Group gap="xs" align="flex-end">
        <Autocomplete
          size="xs"
          label={`Default model of ${name}`}
          placeholder={default_model && default_model_source !== 'console' ? default_model : 'Picked by svc'}
          data={[...models]}
          value={model}
          onChange={setModel}
          limit={50}
          maxLength={200}
          w={260}
        />
        <Button
          size="xs"
          variant="default"
          disabled={model.trim() === stored}
          loading={save.isPending}
          onClick={() => save.mutate(model.trim())}
          aria-label={`Save the default model of ${name}`}
        >
          Save
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {defaultModelWords(provider)}
      </Text>
      <Refusal title="Couldn’t save the model" error={save.error} />
    </Stack>
  )
}
