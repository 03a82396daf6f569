import { expect, test } from 'vitest'
import { layoutFlow, type FlowLayout } from './layout-flow.ts'

const size = { boxWidth: 100, boxHeight: 40, gapX: 20, gapY: 30 }
const at = ({ boxes }: FlowLayout, id: string) => boxes.find((box) => box.id === id)!

test('a chain stands in one column, each step below the last', () => {
  const layout = layoutFlow(
    [
      { id: 'a', after: [] },
      { id: 'b', after: ['a'] },
      { id: 'c', after: ['b'] },
    ],
    size,
  )
  expect(layout.boxes.map(({ x, y }) => [x, y])).toEqual([
    [0, 0],
    [0, 70],
    [0, 140],
  ])
  expect([layout.width, layout.height]).toEqual([100, 180])
  expect(layout.lines.map(({ path }) => path)).toEqual(['M50 40V70', 'M50 110V140'])
})

test('steps that may go on at the same time stand beside each other, and meet again below', () => {
  const layout = layoutFlow(
    [
      { id: 'a', after: [] },
      { id: 'left', after: ['a'] },
      { id: 'right', after: ['a'] },
      { id: 'z', after: ['left', 'right'] },
    ],
    size,
  )
  expect(at(layout, 'left').y).toBe(at(layout, 'right').y)
  expect(at(layout, 'left').x).toBeLessThan(at(layout, 'right').x)
  expect(at(layout, 'a').x).toBe(60)
  expect(at(layout, 'z').y).toBeGreaterThan(at(layout, 'left').y)
})

test('a line that passes a row by keeps to the right of every box', () => {
  const layout = layoutFlow(
    [
      { id: 'a', after: [] },
      { id: 'b', after: ['a'] },
      { id: 'c', after: ['a', 'b'] },
    ],
    size,
  )
  const around = layout.lines.find(({ from, to }) => from === 'a' && to === 'c')!
  expect(around.path).toContain('H110')
  expect(layout.width).toBeGreaterThan(110)
})

test('steps are placed whatever their names say: unknown ones, their own, and none at all', () => {
  expect(layoutFlow([], size)).toMatchObject({ boxes: [], lines: [], height: 0 })
  const layout = layoutFlow([{ id: 'a', after: ['nobody', 'a'] }], size)
  expect(layout.boxes).toEqual([{ id: 'a', x: 0, y: 0 }])
})
