#!/usr/bin/env python3
"""Makes a folder to measure `rota import slurm` with: a cluster of 1,000 nodes, and so many made-up rows of sacct -P.

    python3 bench/sacct_rows.py FOLDER [ROWS]
    time build/release/rota import slurm site --from FOLDER

The rows stand in three exports of sacct, each of which tells some rows of the one before once more; 3,000,000 by
default. The same rows each time."""

import pathlib
import random
import sys
import time

NAMES = ("JobIDRaw|JobID|Cluster|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|"
         "AllocCPUS|ReqCPUS|NNodes|ReqNodes|ReqMem|ReqTRES|AllocTRES")
NODES = 1000
CORES = 64
MEMORY = 256_000  # MB
FIRST = 1_704_067_200  # 2024
EXPORTS = 3
TOLD_TWICE = 0.01  # of an export's rows
LIMITS = (30, 60, 120, 240, 720, 1440, 2880, 10080)  # minutes


def clock(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def row(number, submit, dice):
    """One job, as sacct tells of it."""
    nodes = 1 if dice.random() < 0.8 else dice.choice((2, 4, 8, 16))
    gpus = dice.choice((1, 2, 4)) if dice.random() < 0.1 else 0
    cores = nodes * (CORES if nodes > 1 else dice.choice((1, 1, 2, 4, 8, 16, 32)))
    memory = cores * dice.choice((1, 2, 4)) * 1000  # MB
    limit = dice.choice(LIMITS)
    run = max(1, int(limit * 60 * dice.betavariate(0.7, 2)))
    eligible = submit if dice.random() < 0.9 else submit + dice.randrange(3600)
    start = eligible + int(dice.expovariate(1 / 1800))
    state = dice.choices(("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 1000"), (80, 12, 4, 4))[0]
    user = min(int(dice.expovariate(1 / 60)), 999)
    partition = "gpu" if gpus else "long" if limit > 1440 else "batch"
    tres = f"billing={cores},cpu={cores},"
    if gpus:
        tres += f"gres/gpu:a100={gpus * nodes},gres/gpu={gpus * nodes},"
    if dice.random() < 0.02:
        tres += "license/matlab=1,"
    tres += f"mem={memory}M,node={nodes}"
    return (f"{number}|{number}|kea|user{user}|account{user % 50}|{partition}|normal|{clock(submit)}|{clock(eligible)}|"
            f"{clock(start)}|{clock(start + run)}|{run}|{limit}|{state}|{cores}|{cores}|{nodes}|{nodes}|{memory}M|"
            f"{tres}|{tres}\n")


def save_cluster(folder):
    (folder / "config.txt").write_text("ClusterName = kea\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\n"
                                       "SelectTypeParameters = CR_CORE_MEMORY\nPriorityType = priority/multifactor\n"
                                       "SLURM_VERSION = 22.05.8\n")
    with open(folder / "nodes.txt", "w") as out:
        for n in range(NODES):
            gpus = " Gres=gpu:a100:4" if n < NODES // 10 else ""
            out.write(f"NodeName=n{n:04} CPUTot={CORES} RealMemory={MEMORY} Weight=1{gpus}\n")
    (folder / "partitions.txt").write_text(
        f"PartitionName=batch Nodes=n[0000-{NODES - 1:04}] Default=YES MaxTime=1-00:00:00\n"
        f"PartitionName=long Nodes=n[0100-{NODES - 1:04}] MaxTime=7-00:00:00\n"
        f"PartitionName=gpu Nodes=n[0000-{NODES // 10 - 1:04}] MaxTime=7-00:00:00\n")
    (folder / "licences.txt").write_text("LicenseName=matlab Total=500 Used=0 Free=500 Remote=no\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 3_000_000
    folder.mkdir(parents=True)
    save_cluster(folder)
    dice = random.Random(1)
    submit, number = FIRST, 1000
    last = []
    for export in range(EXPORTS):
        written = rows // EXPORTS + (rows % EXPORTS if export == 0 else 0)
        with open(folder / f"sacct-{export + 1}.txt", "w") as out:
            out.write(NAMES + "\n")
            again = last[-int(written * TOLD_TWICE):] if last else []
            out.writelines(again)
            last = []
            for _ in range(written - len(again)):
                submit += int(dice.expovariate(1 / 10))
                number += 1
                line = row(number, submit, dice)
                out.write(line)
                last.append(line)
            last = last[-int(rows / EXPORTS * TOLD_TWICE):]


main()
