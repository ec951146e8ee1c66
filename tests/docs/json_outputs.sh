# shellcheck shell=bash disable=SC2086
# Writes examples of every JSON object that the program prints, for check_json.py: in a scratch folder with links to `tests` and `benchmarks`.
# The files need only end in .json or .jsonl; an object is recognised by its schema.
said=0
told() {  # ARGUMENTS...: what `viridian ARGUMENTS --json` prints
    said=$((said + 1))
    viridian "$1" --json "${@:2}" >said_$said.json 2>said_$said.log || { echo "viridian $*"; cat said_$said.*; return 1; }
}

# Models.
told doctor
told doctor --peaks
told zoo
told zoo small_cnn -o net.onnx
told inspect net.onnx --nodes --fusion published
told inspect net.onnx --fusion none
told inspect net.onnx --measured
told inspect net.onnx
told help
told completion bash
told man run
told optimize --list-rules
told optimize net.onnx -o net.opt.onnx --db cost.db --budget 20,1s --objective energy --frontier --record prices.json
# Without instructions for bf16 the precision of nodes is not written.
if grep -qE 'avx512_bf16|amx_bf16' /proc/cpuinfo; then
    told optimize net.onnx -o low.opt.onnx --db cost.db --budget 5,1s --allow bf16 --max-error 0.05
fi
told optimize net.onnx -o recorded.opt.onnx --recorded prices.json --budget 5,1s
told check net.onnx net.opt.certificate.json
# Measured prices may find no rewrite that pays; with these prices there are always some.
told zoo squeezenet1_1 -o rewritten.onnx
told optimize rewritten.onnx -o rewritten.opt.onnx --recorded benchmarks/eago/processor.json --budget 30
told run net.onnx --db cost.db --rounds 0
told run net.opt.plan.json --db cost.db --rounds 2 -o outputs --account net.joules.json
told profile net.onnx --db cost.db
told profile net.onnx --db cost.db --dry-run
told profile net.onnx --db cost.db --choices --record prices.json
told profile --db cost.db --residuals
cp said_$said.json residuals.json
told report net.joules.json -o page.html
viridian run absent.onnx --json >error.json 2>error.log || true

# Joules.
told record -o recorded sleep 0.3
python3 tests/golden/inputs.py modules >modules.trace
python3 tests/golden/inputs.py layers >layers.trace
python3 tests/golden/inputs.py watts >a.csv
python3 tests/golden/inputs.py watts 50 >b.csv
printf 'time,gco2e_per_kwh,source\n,360,contract of 2023\n' >grid.csv
told account --trace modules.trace --power a.csv -o a.result.json
told account --trace modules.trace --power b.csv -o b.result.json
told account --trace modules.trace --power a.csv --carbon grid.csv
told account --trace tests/data/recordings/simulated_gpt/trace.vtrace --power tests/data/recordings/simulated_gpt/power.csv.gz \
    --method deconvolve --precision
told account diff a.result.json b.result.json
told account top a.result.json b.result.json
for i in {0..19}; do echo $((1700000000000000000 + i * 30000000)),$((1700000000030000000 + i * 30000000)); done >epochs.csv
told account epochs --trace layers.trace --power a.csv --epochs epochs.csv --bin 10
told account selftest --scenario calm --seconds 2 --sensor '4 ms'
told account overhead --runs 2 sleep 0.2
told trace show tests/data/traces/triton.json.gz
told trace convert tests/data/traces/triton.json.gz out.vtrace
told meter probe --meter model --seconds 1 -o probe.csv

# Training.
printf 'a,b,label\n' >samples.csv
for i in {0..63}; do echo "$((i % 7)),$((i % 5)),$((i % 2))"; done >>samples.csv
awk 'BEGIN { for (j = 0; j < 784; j++) printf "p%d,", j; print "label"
  for (i = 0; i < 80; i++) { c = i % 10; for (j = 0; j < 784; j++) printf "%.2f,", ((int(j / 28) * (c + 2) + j % 28 * (11 - c)) % 13 < 5) + (i * j * 7) % 5 / 10; print c } }' >digits.csv
viridian zoo mlp --batch 16 -o mlp.onnx >zoo.log
told train mlp.onnx --data digits.csv --label-column label --eval-share 0.2 --epochs 2 --ema 0.5 --clip 1 --log steps.jsonl \
    --meter model --html trained.html -o trained.onnx
told train mlp.onnx --data digits.csv --label-column label --epochs 1 --log plain.jsonl -o plain.onnx
told train mlp.onnx --data digits.csv --label-column label --optimizer sgd --rate-finder --rate-steps 100
told gradient net.onnx --freeze 'conv1*' -o step.onnx
told gradient net.onnx --accumulate -o steps.onnx

# Pipelines.
profile="--profile tests/data/pipeline/v100_3_slow_middle.csv --wait-power 50"
cat >layers.csv <<'END'
layer,forward,backward,energy,activation,weights
embed,0.010,0.020,9,4e8,8e8
block1,0.020,0.040,20,6e8,4e8
block2,0.020,0.040,20,6e8,4e8
head,0.030,0.050,31,1e8,8e8
END
told pipeline partition layers.csv --stages 3 --device v100 -o stages.json
told pipeline plan $profile -m 2 -o plan.json
told pipeline plan $profile -m 2
told pipeline plan $profile -m 4 --slowdown 5
told pipeline plan --device v100 --stages 3 -m 6 --wait-power 50 --activation 1e9 --weights 2e9 --memory 6e9 --order search \
    --evaluations 20
told pipeline simulate $profile -m 4 --slow-rank 1:1.3
told pipeline simulate $profile -m 4 --planner envpipe --jitter 0.02 --runs 20 --seed 3
told pipeline frontier $profile -m 4 --at 0.65 --compare envpipe --power-cap 330
told pipeline check plan.json $profile
told pipeline convert plan.json --from json --to zeus -o clocks.py
echo 'Et*2|t*3|tL' >layout.txt
told pipeline convert layout.txt --from megatron-layout --to stages -o letters.json
told pipeline convert letters.json --from stages --to megatron-layout
told pipeline check plan.json
told pipeline frontier $profile -m 2
told pipeline plan $profile -m 200 --planner envpipe
told pipeline plan $profile -m 170000 --planner maximum

# What a meter says: a power meter that renews every 100 ms the mean of the last 25 ms, and a counter that renews every 20 ms,
# both 10 ms late, under a load that steps between 70 and 430 W; and one that moves once and follows nothing.
python3 - <<'END'
import random

random.seed(1)
zero, load, t = 1_700_000_000_000_000_000, [(0.0, 0.0)], 4.0
while t < 40:
    load.append((t, 1.0 - load[-1][1]))
    t += random.choice([0.02, 0.05, 0.1, 0.25, 0.6]) * random.uniform(0.3, 1.0)

def joules(until):
    ends = [begin for begin, _ in load[1:]] + [1e9]
    return sum((70 + 360 * level) * (min(end, until) - begin) for (begin, level), end in zip(load, ends) if begin < until)

def ns(seconds):
    return zero + round(seconds * 1e9)

rows, asked = [], {}
for field, period in ((0, 0.1), (1, 0.02)):
    for place in range(int(1 / period), int(40 / period)):
        stamp = place * period
        end = stamp - 0.01
        value = 1e6 * joules(end) if field else 1e6 * (joules(end) - joules(end - 0.025)) / 0.025
        rows.append((ns(stamp + 0.0005), ns(stamp - 0.0005), ns(stamp), field, round(value)))
rows += [(ns(5), ns(4.9), ns(5), 2, 70_000_000), (ns(20), ns(19.9), ns(20), 2, 71_000_000)]
with open("stepping.csv", "w") as log:
    log.write(f"# viridian.probe/1\n# span,{zero},{ns(40)}\n"
              "# field,nvml:average,cuda:0,gpu,average_uw,40000,390,2000,8000\n"
              "# field,nvml:energy,cuda:0,gpu,energy_uj,40000,1950,2000,8000\n"
              "# field,nvml:stuck,cuda:1,gpu,average_uw,40000,2,2000,8000\n"
              "seen_ns,not_before_ns,stamp_ns,field,value\n")
    log.writelines(",".join(map(str, row)) + "\n" for row in sorted(rows))
with open("load.csv", "w") as log:
    log.write("time_ns,load\n" + "".join(f"{ns(begin)},{level}\n" for begin, level in load))
END
told meter identify stepping.csv --load load.csv

# The monitor, until it is interrupted.
viridian serve --listen unix:monitor.sock --json >served.json 2>served.log &
for i in {1..50}; do [ -S monitor.sock ] && break; sleep 0.1; done
kill -INT $!
wait $!
