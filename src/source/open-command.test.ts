import { describe, expect, it } from 'vitest'
import { isOpenCommand } from './open-command.ts'

describe('isOpenCommand', () => {
  it.each([
    [['{args.program}', 'x']],
    [['sh', '-c', '{args.cmd}']],
    [['bash', '-c', '{args.cmd}']],
    [['bash', '-lc', 'grep {args.word} log']],
    [['/usr/bin/env', 'sh', '-c', '{args.cmd}']],
    [['env', 'A=1', '-i', '{args.program}']],
    [['sudo', '-u', 'root', 'bash', '-c', '{args.cmd}']],
    [['timeout', '5', '{args.program}']],
    [['docker', 'exec', 'shop', 'sh', '-c', '{args.cmd}']],
    [['python3', '-c', '{args.code}']],
    [['/opt/python3.12', '-c', '{args.code}']],
    [['python3', '{args.file}']],
    [['node', '--eval={args.code}']],
    [['perl', '-ne', '{args.code}']],
    [['CMD.EXE', '/C', '{args.cmd}']],
    [['pwsh', '-Command', '{args.cmd}']],
    [['psql', '-c', '{args.sql}']],
    [['sed', '{args.script}', 'log']],
    [['npx', '-y', '{args.package}']],
    [['ssh', 'shop', 'grep {args.word} log']],
    [['curl', '{args.url}']],
    [['curl', '-s', '{args.url}']],
    [['curl', '--url={args.url}']],
    [['curl', 'https://{args.host}/orders']],
    [['wget', 'https://{args.sub}.example']],
  ])('%j', (command) => expect(isOpenCommand(command, undefined)).toBe(true))

  it.each([
    [['/bin/bash'], '{args.script}'],
    [['bash', '-s'], '{args}'],
    [['python3', '-'], { code: '{args.code}' }],
    [['psql', '-q'], '{args.sql}'],
    [['ssh', 'shop'], '{args.script}'],
  ])('%j reading %j', (command, stdin) => expect(isOpenCommand(command, stdin)).toBe(true))

  it.each([
    [['grep', '{args.word}', 'log'], undefined],
    [['sh', '-c', 'grep -- "$1" log', 'sh', '{args.word}'], undefined],
    [['bash', 'report.sh', '{args.day}'], '{args.text}'],
    [['env', 'A=1', 'report', '{args.day}'], undefined],
    [['python3', 'report.py', '{args.day}'], '{args}'],
    [['node', 'report.js', '--day={args.day}'], undefined],
    [['psql', '-c', 'select 1'], undefined],
    [['curl', 'https://shop.example/orders/{args.id}'], undefined],
    [['curl', '-d', '{args.body}', 'https://shop.example/orders'], undefined],
    [['curl', '-G', '--data-urlencode', 'q={args.word}', 'https://shop.example'], undefined],
    [['cat'], '{args.text}'],
    [['sh', '-c', 'uptime'], undefined],
  ])('not %j reading %j', (command, stdin) => expect(isOpenCommand(command, stdin)).toBe(false))
})
