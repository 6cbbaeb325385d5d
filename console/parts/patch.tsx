/** A patch of catalog files: its lines, and to copy and to download for git apply. */
import { Button, Group } from '@mantine/core'
import { Copy, Download } from 'lucide-react'
import { useCopy } from '../lib/copy-text.ts'

interface Props {
  patch: string
  /** Name of the file that is downloaded, without its ending. */
  name: string
}

export function PatchButtons({ patch, name }: Props) {
  const { copied, copy } = useCopy()
  return (
    <Group gap="xs">
      <Button size="xs" leftSection={<Copy size={14} aria-hidden />} onClick={() => copy(patch)}>
        {copied ? 'Copied' : 'Copy the patch'}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<Download size={14} aria-hidden />}
        component="a"
        href={`data:text/x-patch;charset=utf-8,${encodeURIComponent(patch)}`}
        download={`${name}.patch`}
      >
        Download .patch
      </Button>
    </Group>
  )
}

export function PatchText({ patch }: { patch: string }) {
  return (
    // It scrolls, and so takes the keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys (WCAG 2.1.1).
    <pre className="patch" tabIndex={0}>
      {patch
        .replace(/\n$/, '')
        .split('\n')
        .map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
          <Line key={i} text={line} />
        ))}
    </pre>
  )
}

function Line({ text }: { text: string }) {
  const isHead = /^(\+\+\+|---|diff |(new|deleted) file )/.test(text)
  if (!isHead && text.startsWith('+')) return <ins>{`${text}\n`}</ins>
  if (!isHead && text.startsWith('-')) return <del>{`${text}\n`}</del>
  return <span className={text.startsWith('@@') || isHead ? 'patch-head' : undefined}>{`${text}\n`}</span>
}
