/** Which provider and model to run on; free text where the instance lists none. */
import { Autocomplete, Group, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { declared, dkeys } from '../declared-client.ts'
import { modelChoices } from '../lib/model-choices.ts'

export interface ModelChoice {
  /** Empty: the default one. */
  provider: string
  /** Empty: the default of the provider. */
  model: string
}

interface Props {
  value: ModelChoice
  onChange: (value: ModelChoice) => void
  /** What a blank says. */
  blank?: string
  names?: { provider: string; model: string }
}

const NAMES = { provider: 'Model provider', model: 'Model' }

export function ModelPicker({ value, onChange, blank = 'The default', names = NAMES }: Props) {
  const { data } = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  const { providers, models, fallback } = modelChoices(data, value)
  const hint = blank === 'The default' && fallback ? `${blank}: ${fallback}` : blank
  return (
    <Group grow align="flex-start" preventGrowOverflow={false}>
      {providers.length > 0 ? (
        <Select
          label={names.provider}
          placeholder={blank}
          data={providers}
          value={value.provider || null}
          // A model of another provider means nothing here.
          onChange={(provider) => onChange({ provider: provider ?? '', model: '' })}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the provider' }}
        />
      ) : (
        <TextInput
          label={names.provider}
          placeholder={blank}
          value={value.provider}
          onChange={(event) => onChange({ ...value, provider: event.currentTarget.value })}
          maxLength={40}
        />
      )}
      <Autocomplete
        label={names.model}
        placeholder={hint}
        data={models}
        value={value.model}
        onChange={(model) => onChange({ ...value, model })}
        maxLength={200}
        limit={50}
      />
    </Group>
  )
}
