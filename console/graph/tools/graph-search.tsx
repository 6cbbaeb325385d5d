/** Finds a node by its name and shows it; / puts the focus here. */
import { Autocomplete, Kbd } from '@mantine/core'
import { Search } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { byName } from '../../lib/by-name.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import type { Canvas } from '../canvas.ts'
import { kindWord } from '../drawing/fold.ts'
import { focusWhenDrawn } from '../hands/use-keys.ts'
import { useShow } from './use-show.ts'

export function GraphSearch({ canvas }: { canvas: Canvas }) {
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const show = useShow(canvas)
  usePageKeys([['/', () => input.current?.focus()]])
  const { nodes } = canvas.graph
  const key = nodes.map((node) => node.id).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key names the nodes.
  const ids = useMemo(
    () => new Map(byName(nodes).map((node) => [`${node.name} · ${kindWord(node.kind)}`, node.id])),
    [key],
  )
  const options = useMemo(() => [...ids.keys()], [ids])
  return (
    <Autocomplete
      ref={input}
      size="xs"
      w={210}
      aria-label="Find a node"
      placeholder="Find a node"
      leftSection={<Search size={13} aria-hidden />}
      rightSection={text ? null : <Kbd size="xs">/</Kbd>}
      data={options}
      limit={8}
      autoSelectOnBlur={false}
      selectFirstOptionOnChange
      value={text}
      onChange={setText}
      onOptionSubmit={(option) => {
        const id = ids.get(option)
        if (id) {
          show(id)
          const root = input.current?.closest<HTMLElement>('.graph-canvas')
          if (root) focusWhenDrawn(id, root, 30)
        }
        // The kit writes the option into the field after this call.
        queueMicrotask(() => setText(''))
      }}
    />
  )
}
