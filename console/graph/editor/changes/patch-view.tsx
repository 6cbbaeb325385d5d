/** The catalog file before and after, as a patch; to copy and to download for git apply. */
import { Stack, Text } from '@mantine/core'
import { PatchButtons, PatchText } from '../../../parts/patch.tsx'

interface Yaml {
  path: string
  before: string
  after: string
  patch: string
}

export function PatchView({ yaml }: { yaml: Yaml }) {
  if (yaml.patch === '')
    return (
      <Text size="sm" c="dimmed">
        {yaml.path} stays as it is.
      </Text>
    )
  return (
    <Stack gap="xs">
      <YamlButtons yaml={yaml} />
      <PatchText patch={yaml.patch} />
    </Stack>
  )
}

export function YamlButtons({ yaml: { patch, path } }: { yaml: Yaml }) {
  return <PatchButtons patch={patch} name={path.replace(/\.ya?ml$/, '')} />
}
