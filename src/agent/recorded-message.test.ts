import type { LanguageModelV4Content } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { promptMessage, recordMessage, type RecordedMessage } from './recorded-message.ts'

const same = (name: string) => name
const tell = (message: JsonObject) => promptMessage(message as unknown as RecordedMessage, same)

describe('what a model said', () => {
  test('is repeated as it came: thoughts with their signatures, files, calls', () => {
    const content: LanguageModelV4Content[] = [
      { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature: 'abc' } } },
      { type: 'text', text: '' },
      { type: 'text', text: 'Here.' },
      { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: Buffer.from('hi') } },
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'url', url: new URL('https://a.example/b.png') },
      },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{"id":1}' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{"id":2}' },
    ]
    const message = recordMessage(content, 'Here.', new Map([['c1', { id: 1 }]]), same)
    expect(tell(JSON.parse(JSON.stringify(message)) as JsonObject)).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'abc' } } },
        { type: 'text', text: 'Here.' },
        { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: 'aGk=' } },
        {
          type: 'file',
          mediaType: 'image/png',
          data: { type: 'url', url: new URL('https://a.example/b.png') },
        },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { id: 1 } },
      ],
    })
  })

  test('is told with the names that the service knows, and recorded with the own ones', () => {
    const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'crm__look', input: '{}' }
    const message = recordMessage([call], '', new Map([['c1', {}]]), () => 'crm/look')
    expect(message).toMatchObject({ content: [{ toolName: 'crm/look' }] })
    const told = promptMessage(message as unknown as RecordedMessage, () => 'crm__look')
    expect(told.content).toMatchObject([{ toolName: 'crm__look' }])
  })

  test('that was recorded as a text is told as one', () => {
    expect(tell({ role: 'assistant', content: 'Done.' })).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'Done.' }],
    })
    expect(recordMessage([], '', new Map(), same)).toEqual({ role: 'assistant', content: '' })
  })
})
