/* SPDX-License-Identifier: Apache-2.0 */

/* The list of sections. */
#include "sections.h"

const section sections[] = {
	{"socket", socket_section},
	{"descriptor", descriptor_section},
	{"name", name_section},
	{"bind", bind_section},
	{"option", option_section},
	{"socket-option", socket_option_section},
	{"ioctl", ioctl_section},
	{"datagram", datagram_section},
	{"receive", receive_section},
	{"connect", connect_section},
	{"nonblocking", nonblocking_section},
	{"refuse", refuse_section},
	{"stream", stream_section},
	{"seqpacket", seqpacket_section},
	{"shutdown", shutdown_section},
	{"pair", pair_section},
	{"reject", reject_section},
	{"poll", poll_section},
	{"flow", flow_section},
	{"multicast", multicast_section},
	{"group", group_section},
	{"topology", topology_section},
	{"process", process_section},
	{"pointer", pointer_section},
};

const size_t section_count = COUNT(sections);
