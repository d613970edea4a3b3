# SPDX-License-Identifier: BSD-3-Clause
"""After everything is done: nobody waits for a token or holds a lock, and each told another as often as
that one heard. Usage: check_tokens.py SEGMENT..."""
import sys

from dump_segment import Segment


def main():
    sent, heard, wrong = {}, {}, 0
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            segment = Segment(file.read())
        for request in segment.requests():
            if request.kind != "free":
                print("rank %d: request %d is %s" % (segment.rank, request.index, request.kind))
                wrong += 1
        for lane in segment.lanes:
            for comm, peer, tag, _, sends, sends_done, receives, receives_done, _ in lane.rows():
                name = segment.comm(int(comm)).id, tag
                sent[name, segment.rank, int(peer)] = sends, sends_done
                heard[name, int(peer), segment.rank] = receives, receives_done
    for key in sorted(set(sent) | set(heard), key=str):
        one, other = sent.get(key, (0, 0)), heard.get(key, (0, 0))
        if len(set(one + other)) != 1:
            print("%s: sent %d/%d, heard %d/%d" % (key, *one, *other))
            wrong += 1
    tags = sorted(set(tag for (_, tag), _, _ in sent))
    print("tokens", *tags)
    return wrong != 0 or tags != ["complete", "group", "leader", "post"]


if __name__ == "__main__":
    sys.exit(main())
