/** The catalog file before and after, as a patch; to copy and to download for git apply. */
import { Button, CopyButton, Group, Stack, Text } from '@mantine/core'
import { Copy, Download } from 'lucide-react'

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
      <PatchButtons yaml={yaml} />
      <pre className="patch">
        {yaml.patch.split('\n').map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
          <Line key={i} text={line} />
        ))}
      </pre>
    </Stack>
  )
}

export function PatchButtons({ yaml }: { yaml: Yaml }) {
  return (
    <Group gap="xs">
      <CopyButton value={yaml.patch} timeout={1_500}>
        {({ copied, copy }) => (
          <Button size="xs" leftSection={<Copy size={14} aria-hidden />} onClick={copy}>
            {copied ? 'Copied' : 'Copy the patch'}
          </Button>
        )}
      </CopyButton>
      <Button
        size="xs"
        variant="default"
        leftSection={<Download size={14} aria-hidden />}
        component="a"
        href={`data:text/x-patch;charset=utf-8,${encodeURIComponent(yaml.patch)}`}
        download={`${yaml.path.replace(/\.ya?ml$/, '')}.patch`}
      >
        Download .patch
      </Button>
    </Group>
  )
}

function Line({ text }: { text: string }) {
  const isHead = text.startsWith('+++') || text.startsWith('---')
  if (!isHead && text.startsWith('+')) return <ins>{`${text}\n`}</ins>
  if (!isHead && text.startsWith('-')) return <del>{`${text}\n`}</del>
  return <span className={text.startsWith('@@') || isHead ? 'patch-head' : undefined}>{`${text}\n`}</span>
}
