/** The box around the skills: they have no edges, since every agent of the project sees them. */
import { ViewportPortal } from '@xyflow/react'
import type { Box } from '../drawing/geometry.ts'

export function SkillsBox({ box }: { box: Box | null }) {
  if (!box) return null
  return (
    <ViewportPortal>
      <div
        className="graph-skills"
        style={{ transform: `translate(${box.x}px, ${box.y}px)`, width: box.width, height: box.height }}
      >
        Skills: every agent sees them
      </div>
    </ViewportPortal>
  )
}
